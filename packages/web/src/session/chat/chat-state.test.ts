import type { StreamEvent } from '@vestra/sdk/stream';
import { describe, expect, it } from 'vitest';
import { type ChatState, chatReducer, emptyChat, type Loaded } from './chat-state.ts';
import { timelineOf } from './timeline.ts';

type Message = Loaded['messages'][number];
type Turn = Extract<Parameters<typeof chatReducer>[1], { type: 'sent' }>['turn'];

/** Ids sort by creation time, which `at` represents. */
const id = (prefix: string, at: number) => `${prefix}_${String(at).padStart(24, '0')}`;

const message = (at: number, role: Message['role'], text: string, turn = at): Message => ({
  object: 'message',
  id: id('msg', at),
  conversation_id: id('conv', 0),
  turn_id: id('turn', turn),
  task_id: null,
  role,
  text,
  data: null,
  context: null,
  attachments: [],
  created_at: '2026-01-01T00:00:00.000Z',
});

const event = (type: StreamEvent['type'], data: Record<string, unknown>, turn: number) =>
  ({
    object: 'event',
    id: id('evt', 0),
    type,
    seq: 1,
    conversation_id: id('conv', 0),
    task_id: null,
    turn_id: id('turn', turn),
    deployment_id: null,
    created_at: '2026-01-01T00:00:00.000Z',
    data,
  }) as StreamEvent;

const delta = (at: number, text: string, turn: number) =>
  event('reply.delta', { message_id: id('msg', at), text }, turn);

const withEvents = (state: ChatState, events: readonly StreamEvent[]) =>
  events.reduce((before, each) => chatReducer(before, { type: 'event', event: each }), state);

const textsOf = (state: ChatState) =>
  timelineOf(state).map((item) =>
    item.kind === 'message' ? item.said.text : item.kind === 'outgoing' ? item.outgoing.text : item.kind,
  );

describe('chat state', () => {
  it('shows a complete reply once, even if the stream repeats it as deltas', () => {
    const read = chatReducer(emptyChat, { type: 'newest', messages: [message(3, 'agent', 'Good morning.', 1)] });
    expect(textsOf(withEvents(read, [delta(3, 'Good ', 1), delta(3, 'morning.', 1)]))).toEqual(['Good morning.']);
  });

  it('removes a deleted task and replaces its result by a line', () => {
    const task_id = id('task', 2);
    const result = { ...message(3, 'work', 'The plum is ripe.', 1), task_id };
    const read = chatReducer(emptyChat, { type: 'newest', messages: [message(2, 'user', 'Look.', 1), result] });
    const about = (type: StreamEvent['type'], data: Record<string, unknown>) =>
      ({ ...event(type, data, 1), task_id }) as StreamEvent;
    const working = withEvents(read, [about('task.progress', { title: 'The plum', progress: [] })]);
    const after = withEvents(working, [about('task.deleted', {}), about('task.deleted', {})]);
    expect([Object.keys(working.works), after.works]).toEqual([[task_id], {}]);
    expect(JSON.stringify(after)).not.toContain('plum');
    expect(after.messages[id('msg', 3)]?.text).toBe('The task and its result were deleted.');
  });

  it('keeps the partial text of a failed reply as final', () => {
    const turn = { id: id('turn', 1), task_id: null, status: 'failed' };
    const broken = withEvents(emptyChat, [delta(3, 'I thi', 1), event('turn.settled', { turn }, 1)]);
    expect(broken.messages[id('msg', 3)]).toMatchObject({ text: 'I thi', isWhole: true });
    expect(textsOf(broken)).toEqual(['I thi', 'end']);
  });

  it('shows a sent message once, between the earlier messages and its reply', () => {
    const outgoing = {
      key: 'k',
      text: 'Second',
      attachments: [],
      sentAt: '2026-01-01T00:00:00.000Z',
      turnId: null,
      failure: null,
    };
    const first = chatReducer(emptyChat, { type: 'newest', messages: [message(2, 'user', 'First', 1)] });
    const sending = chatReducer(withEvents(first, [delta(3, 'Reply 1', 1)]), { type: 'sending', outgoing });
    expect(textsOf(sending)).toEqual(['First', 'Reply 1', 'Second']);
    const sent = chatReducer(sending, { type: 'sent', key: 'k', turn: { id: id('turn', 4) } as Turn });
    const replied = withEvents(sent, [delta(6, 'Reply 2', 4)]);
    expect(textsOf(replied)).toEqual(['First', 'Reply 1', 'Second', 'Reply 2']);
    const read = chatReducer(replied, { type: 'newest', messages: [message(5, 'user', 'Second', 4)] });
    expect(textsOf(read)).toEqual(['First', 'Reply 1', 'Second', 'Reply 2']);
  });

  it('offers the last message again after its reply failed, although an earlier one is still being sent [CON-702]', () => {
    const sent = (state: ChatState, key: string, turn: number | null) => {
      const outgoing = {
        key,
        text: key,
        attachments: [],
        sentAt: '2026-01-01T00:00:00.000Z',
        turnId: null,
        failure: null,
      };
      const sending = chatReducer(state, { type: 'sending', outgoing });
      if (turn === null) return sending;
      return chatReducer(sending, { type: 'sent', key, turn: { id: id('turn', turn) } as Turn });
    };
    const both = sent(sent(emptyChat, 'First', 1), 'Second', 4);
    const turn = { id: id('turn', 4), task_id: null, status: 'failed', settled_at: '2026-01-01T00:00:00.000Z' };
    const failed = withEvents(both, [event('turn.settled', { turn }, 4)]);
    const againIn = (state: ChatState) =>
      timelineOf(state).flatMap((item) => (item.kind === 'end' ? [item.again?.text ?? null] : []));
    expect(againIn(failed)).toEqual(['Second']);
    expect(againIn(sent(failed, 'Third', null))).toEqual([null]);
  });

  it('hides items before the oldest loaded message while older ones exist', () => {
    const page = [message(9, 'agent', 'Reply', 7), message(8, 'user', 'Ask', 7)];
    const read = chatReducer(emptyChat, { type: 'older', messages: page, older: 'cursor' });
    const told = withEvents(read, [event('reply.completed', { message: message(3, 'agent', 'Long ago', 1) }, 1)]);
    expect(textsOf(told)).toEqual(['Ask', 'Reply']);
    const all = chatReducer(told, { type: 'older', messages: [message(2, 'user', 'Hello', 1)], older: null });
    expect(textsOf(all)).toEqual(['Hello', 'Long ago', 'Ask', 'Reply']);
  });
});

it('shows the progress of a server tool until the reply settles [MCPS-705]', () => {
  const progress = event('tool_call.progress', { call_id: id('call', 1), name: 'mcp__shop__find', text: 'Half' }, 1);
  const running = chatReducer(emptyChat, { type: 'event', event: progress });
  expect(Object.values(running.calls).map((call) => call.progress)).toEqual(['Half']);
  const turn = { id: id('turn', 1), status: 'settled' } as unknown as Turn;
  expect(chatReducer(running, { type: 'event', event: event('turn.settled', { turn }, 1) }).calls).toEqual({});
});
