import type { ToldOnStream } from '@vestra/contract/events';
import { newId } from '@vestra/contract/ids';
import { sharedDate } from '../../platform/db/clock.ts';
import type { LogEntry } from './log-store.ts';

export type NewLogEntry = ToldOnStream & { taskId?: string | null; turnId?: string | null };

/**
 * The next entries of a log. Only for whoever holds the conversation's row, and until they commit: so a reader that has
 * seen seq n will never find a smaller one appear later.
 */
export function nextEntries(
  conversation: { id: string; last_event_seq: number },
  appended: readonly NewLogEntry[],
): LogEntry[] {
  const created_at = sharedDate();
  return appended.map(({ type, taskId = null, turnId = null, data }, at) => ({
    conversation_id: conversation.id,
    seq: conversation.last_event_seq + 1 + at,
    id: newId('evt'),
    type,
    task_id: taskId,
    turn_id: turnId,
    data,
    created_at,
  }));
}
