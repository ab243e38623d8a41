import type { Micros } from '@vestra/contract/money';
import type { UnavailableServer } from '../../agents/tool-servers/index.ts';
import { type Cost, costOf, costOfKinds, costOfTurn } from '../../billing/index.ts';
import type { Change, EventSink } from './change.ts';
import { presentInteraction, presentMessage, presentTask, presentToolCall, presentTurn } from './present.ts';
import { titleOf } from './previews.ts';
import type { InteractionRow, MessageRow, TaskRow, TurnRow } from './tables.ts';

/** Publishes each change to the conversation's log and to webhooks. */

/** A turn that starts has cost nothing, and neither a new nor a settled turn has open interactions. */
export async function publishTurn(change: Change, type: 'turn.started' | 'turn.settled', turn: TurnRow): Promise<void> {
  const isNew = turn.settled_at === null;
  publishPricedTurn(change, type, turn, isNew ? 0n : await costOfTurn(change.tx, turn.conversation_id, turn.id));
}

/** For callers that know the cost of the turn. */
export function publishPricedTurn(
  change: EventSink,
  type: 'turn.started' | 'turn.settled',
  turn: TurnRow,
  costMicros: Micros,
): void {
  const shown = presentTurn(turn, { interactions: [], costMicros });
  if (isFailedReply(turn)) {
    change.log({ type: 'turn.failed', turnId: turn.id, taskId: null, data: { turn: shown } });
    change.emit({ type: 'turn.failed', data: shown });
  }
  change.log({ type, turnId: turn.id, taskId: null, data: { turn: shown } });
}

/** A failed task has its own event, and a stopped reply is not a failure. */
const isFailedReply = ({ settled_at, error_code, task_id }: TurnRow) =>
  settled_at !== null && error_code !== null && task_id === null;

/** Publishes text that was not streamed yet, and then the stored message. */
export function publishMessage(change: EventSink, message: MessageRow, unstreamed: string): void {
  const about = { turnId: message.turn_id, taskId: message.task_id };
  publishDelta(change, about, { text: unstreamed, message_id: message.id });
  const data = presentMessage(message);
  change.log({ type: 'reply.completed', ...about, data: { message: data } });
  change.emit({ type: 'reply.completed', data });
}

export function publishDelta(
  change: EventSink,
  about: { turnId: string; taskId?: string | null },
  data: { text: string; message_id: string },
): void {
  if (data.text !== '') change.log({ type: 'reply.delta', ...about, data });
}

/** Called once per outage. The user's page reads the stream too, so the log entry names no hosts and no secrets. */
export function publishUnavailableServer(
  change: Change,
  { turn, task }: { turn: TurnRow; task: TaskRow | null },
  { serverId, slug, reason, message, isPersonal }: UnavailableServer,
): void {
  const about = { turnId: turn.id, taskId: task?.id ?? null };
  const shown = { server: slug, reason, user_id: isPersonal ? turn.user_id : null };
  change.log({ type: 'tool_server.away', ...about, data: shown });
  change.emit({
    type: 'tool_server.away',
    data: {
      object: 'tool_server',
      id: serverId,
      ...shown,
      message,
      conversation_id: turn.conversation_id,
      turn_id: turn.id,
    },
  });
}

/** No outage, and no webhook: it stays so until the tool or the model changes. The message is in the trace. */
export function publishRejectedTool(
  change: Change,
  { turn, task }: { turn: TurnRow; task: TaskRow | null },
  server: string,
): void {
  const data = { server, reason: 'rejected_by_provider' as const, user_id: null };
  change.log({ type: 'tool_server.away', turnId: turn.id, taskId: task?.id ?? null, data });
}

type TaskEvent = 'task.started' | 'task.completed' | 'task.failed' | 'task.stopped';

/** `extra` is set if a limit or a policy stopped the task, and not if a person did. */
export async function publishTask(
  change: Change,
  type: TaskEvent,
  task: TaskRow,
  extra: { reason?: string; message?: string | null } = {},
): Promise<void> {
  publishPricedTask(
    change,
    type,
    task,
    type === 'task.started' ? costOfKinds({}) : await costOf(change.tx, { taskId: task.id }),
    extra,
  );
}

/** For callers that know the cost of the task. */
export function publishPricedTask(
  change: EventSink,
  type: TaskEvent,
  task: TaskRow,
  cost: Cost,
  extra: { reason?: string; message?: string | null } = {},
): void {
  const shown = presentTask(task, cost, { isListed: false });
  change.log({ type, taskId: task.id, turnId: task.turn_id, data: { task: shown, ...extra } });
  change.emit({ type, data: { ...shown, ...extra } });
}

export function publishProgress(change: Change, task: TaskRow): void {
  const { id, turn_id, progress } = task;
  change.log({ type: 'task.progress', taskId: id, turnId: turn_id, data: { title: titleOf(task), progress } });
}

export function publishInteraction(change: Change, row: InteractionRow, given: unknown): void {
  const about = { taskId: row.task_id, turnId: row.turn_id };
  const shown = presentInteraction(row);
  change.log({ type: 'interaction.created', ...about, data: { interaction: shown } });
  if (row.type === 'tool_call') {
    change.log({ type: 'tool_call.created', ...about, data: { call: presentToolCall(row, given) } });
  }
  change.emit({ type: 'interaction.created', data: shown });
}

export function publishStartedCall(change: Change, turnId: string, data: { call_id: string; name: string }): void {
  change.log({ type: 'tool_call.started', taskId: null, turnId, data });
}

export function publishCallProgress(change: Change, row: InteractionRow, text: string): void {
  const data = { call_id: row.id, name: String(row.details.tool_name), text };
  change.log({ type: 'tool_call.progress', taskId: row.task_id, turnId: row.turn_id, data });
}

export function publishResolvedInteraction(change: Change, row: InteractionRow): void {
  const shown = presentInteraction(row);
  const data = { interaction: shown };
  change.log({ type: 'interaction.resolved', taskId: row.task_id, turnId: row.turn_id, data });
  change.emit({ type: row.status === 'expired' ? 'interaction.expired' : 'interaction.resolved', data: shown });
}
