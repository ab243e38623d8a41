import type { Micros } from '@vestra/contract/money';
import type { UnavailableServer } from '../../agents/tool-servers/index.ts';
import { type Cost, costOf, costOfKinds, costOfTurn } from '../../billing/index.ts';
import type { Change, Telling } from './change.ts';
import { presentInteraction, presentMessage, presentTask, presentToolCall, presentTurn } from './present.ts';
import type { InteractionRow, MessageRow, TaskRow, TurnRow } from './tables.ts';

/** How each thing that happens reaches the conversation's log and other systems, in one place. */

/** A turn that begins has cost nothing, and neither that nor one that has ended waits for anything. */
export async function tellTurn(change: Change, type: 'turn.started' | 'turn.settled', turn: TurnRow): Promise<void> {
  const isNew = turn.settled_at === null;
  tellPricedTurn(change, type, turn, isNew ? 0n : await costOfTurn(change.tx, turn.conversation_id, turn.id));
}

/** For whoever knows what it has cost. */
export function tellPricedTurn(
  change: Telling,
  type: 'turn.started' | 'turn.settled',
  turn: TurnRow,
  costMicros: Micros,
): void {
  const shown = presentTurn(turn, { interactions: [], costMicros });
  if (isFailedReply(turn)) {
    change.log({ type: 'turn.failed', turnId: turn.id, taskId: null, data: { turn: shown } });
    change.tell({ type: 'turn.failed', data: shown });
  }
  change.log({ type, turnId: turn.id, taskId: null, data: { turn: shown } });
}

/** Of work that failed the task's own event tells; whoever stopped a reply needs not to be told that it came to no end. */
const isFailedReply = ({ settled_at, error_code, task_id }: TurnRow) =>
  settled_at !== null && error_code !== null && task_id === null;

/** The text as it came, where it was not streamed, and then the message as it is kept. */
export function tellMessage(change: Telling, message: MessageRow, unstreamed: string): void {
  const about = { turnId: message.turn_id, taskId: message.task_id };
  tellDelta(change, about, { text: unstreamed, message_id: message.id });
  const data = presentMessage(message);
  change.log({ type: 'reply.completed', ...about, data: { message: data } });
  change.tell({ type: 'reply.completed', data });
}

export function tellDelta(
  change: Telling,
  about: { turnId: string; taskId?: string | null },
  data: { text: string; message_id: string },
): void {
  if (data.text !== '') change.log({ type: 'reply.delta', ...about, data });
}

/** Once for each outage. The stream is read by the person's own page too: it has no word of hosts and secrets. */
export function tellAway(
  change: Change,
  { turn, task }: { turn: TurnRow; task: TaskRow | null },
  { serverId, slug, reason, message, isPersonal }: UnavailableServer,
): void {
  const about = { turnId: turn.id, taskId: task?.id ?? null };
  const shown = { server: slug, reason, user_id: isPersonal ? turn.user_id : null };
  change.log({ type: 'tool_server.away', ...about, data: shown });
  change.tell({
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

type TaskEvent = 'task.started' | 'task.completed' | 'task.failed' | 'task.stopped';

/** `extra` is what a stop by a limit or a policy adds; a stop by a person adds nothing. */
export async function tellTask(
  change: Change,
  type: TaskEvent,
  task: TaskRow,
  extra: { reason?: string; message?: string | null } = {},
): Promise<void> {
  tellPricedTask(
    change,
    type,
    task,
    type === 'task.started' ? costOfKinds({}) : await costOf(change.tx, { taskId: task.id }),
    extra,
  );
}

/** For whoever knows what it has cost. */
export function tellPricedTask(
  change: Telling,
  type: TaskEvent,
  task: TaskRow,
  cost: Cost,
  extra: { reason?: string; message?: string | null } = {},
): void {
  const shown = presentTask(task, cost, { isListed: false });
  change.log({ type, taskId: task.id, turnId: task.turn_id, data: { task: shown, ...extra } });
  change.tell({ type, data: { ...shown, ...extra } });
}

export function tellProgress(change: Change, task: TaskRow): void {
  const { id, turn_id, title, progress } = task;
  change.log({ type: 'task.progress', taskId: id, turnId: turn_id, data: { title, progress } });
}

export function tellWait(change: Change, row: InteractionRow, given: unknown): void {
  const about = { taskId: row.task_id, turnId: row.turn_id };
  const shown = presentInteraction(row);
  change.log({ type: 'interaction.created', ...about, data: { interaction: shown } });
  if (row.type === 'tool_call') {
    change.log({ type: 'tool_call.created', ...about, data: { call: presentToolCall(row, given) } });
  }
  change.tell({ type: 'interaction.created', data: shown });
}

export function tellCallProgress(change: Change, row: InteractionRow, text: string): void {
  const data = { call_id: row.id, name: String(row.details.tool_name), text };
  change.log({ type: 'tool_call.progress', taskId: row.task_id, turnId: row.turn_id, data });
}

export function tellResolved(change: Change, row: InteractionRow): void {
  const shown = presentInteraction(row);
  const data = { interaction: shown };
  change.log({ type: 'interaction.resolved', taskId: row.task_id, turnId: row.turn_id, data });
  change.tell({ type: row.status === 'expired' ? 'interaction.expired' : 'interaction.resolved', data: shown });
}
