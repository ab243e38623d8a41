import { describe, expect, it } from 'vitest';
import { nextLogEntries } from './conversation-log.ts';

describe('nextLogEntries', () => {
  it('continues after the newest seq, in the given order, with an id for each entry', () => {
    const entries = nextLogEntries({ id: 'conv_1', last_event_seq: 7 }, [
      { type: 'reply.delta', turnId: 'turn_1', data: { text: 'Hi', message_id: 'msg_1' } },
      { type: 'conversation.status', data: { status: 'idle' } },
    ]);
    expect(entries.map(({ seq, type, turn_id, task_id }) => [seq, type, turn_id, task_id])).toEqual([
      [8, 'reply.delta', 'turn_1', null],
      [9, 'conversation.status', null, null],
    ]);
    expect(new Set(entries.map(({ id }) => id)).size).toBe(2);
    expect(nextLogEntries({ id: 'conv_1', last_event_seq: 7 }, [])).toEqual([]);
  });
});
