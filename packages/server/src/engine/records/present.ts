import type { StreamEvent } from '@vestra/contract/events';
import { microsToUsd } from '@vestra/contract/money';
import type { LogEntry } from '../../account/index.ts';
import { type Cost, costOfKinds, costOfTurn, costsOf, presentCost } from '../../billing/index.ts';
import type { Database, Executor } from '../../platform/db/pool.ts';
import { approvalRequirementsOf, pendingInteractions, pendingWithArguments } from './interactions.ts';
import { previewsOf, titleOf } from './previews.ts';
import type { ConversationRow, InteractionRow, MessageRow, Progress, TaskRow, TurnRow } from './tables.ts';
import { openTasks } from './tasks.ts';
import { isTurnOver, presentTurnState } from './turns.ts';

/** Facts about a conversation that are not in its row. */
type KnownFacts = { cost: Cost; preview: string | null };

/**
 * Presents conversations with their previews, open tasks, interactions and costs. It skips queries for which the row
 * counts zero, and for facts in `known`.
 */
export async function showConversations(
  db: Database | Executor,
  rows: readonly ConversationRow[],
  known?: ReadonlyMap<string, KnownFacts>,
): Promise<(row: ConversationRow, firstTurnId?: string) => ReturnType<typeof presentConversation>> {
  const idsWith = (has: (row: ConversationRow) => boolean) => rows.filter(has).map(({ id }) => id);
  const working = idsWith(({ open_tasks }) => open_tasks > 0);
  const tasks = working.length === 0 ? [] : await openTasks(db, working);
  const waiting = idsWith(({ open_interactions }) => open_interactions > 0);
  const interactions = waiting.length === 0 ? [] : await pendingWithArguments(db, waiting);
  const spoken = idsWith(({ turn_count }) => turn_count > 0);
  const costs = known ? null : await costsOf(db, { conversationIds: spoken });
  const previews = await previewsOf(
    db,
    rows.filter(({ id }) => !known?.get(id)?.preview),
  );
  return (row, firstTurnId) =>
    presentConversation(row, {
      tasks: tasks.filter(({ conversation_id }) => conversation_id === row.id),
      interactions: interactions.filter(({ conversation_id }) => conversation_id === row.id),
      cost: known?.get(row.id)?.cost ?? costs?.get(row.id) ?? costOfKinds({}),
      preview: known?.get(row.id)?.preview ?? previews.get(row.id) ?? null,
      ...(firstTurnId !== undefined && { firstTurnId }),
    });
}

export async function showTurn(db: Executor, turn: TurnRow) {
  const costMicros = await costOfTurn(db, turn.conversation_id, turn.id);
  const open = isTurnOver(turn.state) ? [] : await pendingInteractions(db, [turn.conversation_id]);
  return presentTurn(turn, { interactions: open.filter(({ turn_id }) => turn_id === turn.id), costMicros });
}

export const presentConversation = (
  row: ConversationRow,
  open: {
    tasks: readonly TaskRow[];
    interactions: readonly PendingInteraction[];
    cost: Cost;
    preview: string | null;
    firstTurnId?: string;
  },
) => ({
  object: 'conversation' as const,
  id: row.id,
  user_id: row.user_id,
  deployment_id: row.deployment_id,
  deployment_version: row.deployment_version,
  status: row.status,
  preview: open.preview,
  last_error: errorOf({ error_code: row.last_error_code, error_message: row.last_error_message }),
  metadata: row.metadata,
  created_at: row.created_at.toISOString(),
  last_active_at: row.last_active_at.toISOString(),
  open_work: open.tasks.map((task) => ({ task_id: task.id, title: titleOf(task), status: task.status })),
  open_interactions: open.interactions
    .filter(({ type }) => type !== 'tool_call')
    .map(({ id, task_id, kind }) => ({ interaction_id: id, task_id, kind })),
  pending_tool_calls: open.interactions
    .filter(({ type }) => type === 'tool_call')
    .map((each) => presentToolCall(each, each.arguments)),
  last_event_seq: row.last_event_seq,
  ...presentCost(open.cost),
  ...(open.firstTurnId !== undefined && { turn_id: open.firstTurnId }),
});

export type PendingInteraction = InteractionRow & { arguments: unknown };

export const presentToolCall = (row: InteractionRow, given: unknown) => ({
  call_id: row.id,
  name: String(row.details.tool_name),
  arguments: given,
  task_id: row.task_id,
  ...(row.progress !== null && { progress: row.progress }),
});

export const presentMessage = (row: MessageRow) => ({
  object: 'message' as const,
  id: row.id,
  conversation_id: row.conversation_id,
  turn_id: row.turn_id,
  task_id: row.task_id,
  role: row.role,
  text: row.text,
  data: row.data ?? null,
  ...(row.is_cut && { truncated: true as const }),
  context: row.context,
  attachments: row.attachments,
  ...(row.sources && {
    sources: row.sources.map(({ mark, document_id, notebook_id }) => ({ mark, document_id, notebook_id })),
  }),
  created_at: row.created_at.toISOString(),
});

export const presentTurn = (row: TurnRow, of: { interactions: readonly { id: string }[]; costMicros: bigint }) => ({
  object: 'turn' as const,
  id: row.id,
  conversation_id: row.conversation_id,
  status: presentTurnState(row.state),
  reply:
    row.reply_text === null
      ? null
      : {
          text: row.reply_text,
          data: row.reply_data ?? null,
          ...(row.reply_is_cut && { truncated: true as const }),
        },
  acknowledgement: row.acknowledgement,
  task_id: row.task_id,
  interactions: of.interactions.map(({ id }) => id),
  error: errorOf(row),
  cost_usd: microsToUsd(of.costMicros),
  created_at: row.created_at.toISOString(),
  settled_at: row.settled_at?.toISOString() ?? null,
});

const cutLength = 280;

/** Cuts the text in lists and of failed tasks. An open task may have a result that was judged and sent back. */
export const presentTask = (row: TaskRow, cost: Cost, { isListed }: { isListed: boolean }) => ({
  object: 'task' as const,
  id: row.id,
  user_id: row.user_id,
  conversation_id: row.conversation_id,
  deployment_id: row.deployment_id,
  deployment_version: row.deployment_version,
  status: row.status,
  title: titleOf(row),
  ask: (isListed ? cut(row.ask) : row.ask) ?? '',
  progress: row.status === 'done' ? progressOfDone(row.progress) : row.progress,
  result: hasEnded(row)
    ? {
        text: isListed || row.status === 'failed' ? cut(row.result_text) : row.result_text,
        data: row.result_data ?? null,
        ...(row.result_is_cut && { truncated: true as const }),
      }
    : { text: null, data: null },
  outcome: row.status === 'done' ? presentOutcome(row) : null,
  error: errorOf(row),
  ...presentCost(cost),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

export const hasEnded = ({ status }: TaskRow): boolean => status === 'done' || status === 'failed';

/** Null if there were no success criteria. */
export const presentOutcome = (row: Pick<TaskRow, 'outcome_met' | 'outcome_reason' | 'outcome_rounds'>) =>
  row.outcome_met === null
    ? null
    : { met: row.outcome_met, reason: row.outcome_reason ?? '', rounds: row.outcome_rounds ?? 1 };

/**
 * A model may end without a last look at its plan. Nothing of a done task is in progress, and a plan that was never
 * updated says nothing about its steps. A step that it left out on purpose stays pending.
 */
function progressOfDone(progress: Progress): Progress {
  const isNeverUpdated = progress.every(({ status }) => status === 'pending');
  return progress.map(({ content, status }) => ({
    content,
    status: isNeverUpdated || status === 'in_progress' ? 'completed' : status,
  }));
}

function cut(text: string | null): string | null {
  const characters = text === null ? null : [...text.slice(0, cutLength * 2)];
  if (text === null || characters === null || (characters.length <= cutLength && text.length <= cutLength * 2)) {
    return text;
  }
  return `${characters.slice(0, cutLength - 1).join('')}…`;
}

export const presentInteraction = (row: InteractionRow) => ({
  object: 'interaction' as const,
  id: row.id,
  user_id: row.user_id,
  task_id: row.task_id,
  conversation_id: row.conversation_id,
  kind: row.kind,
  type: row.type,
  status: row.status,
  summary: row.summary,
  moves_money: row.moves_money,
  requires_present_user: row.requires_present_user || approvalRequirementsOf(row).includes('present_user'),
  ...(row.type === 'approval' && { approver: row.approver }),
  needs: approvalRequirementsOf(row),
  ...(row.nonce !== null && { nonce: row.nonce }),
  ...(row.questions !== null && { questions: row.questions }),
  ...(row.browser !== null && { browser: row.browser }),
  details: row.details,
  ...(isTaken(row) && { taken_until: row.taken_until?.toISOString() }),
  outcome:
    row.decision === null
      ? null
      : {
          decision: row.decision,
          ...(row.answers !== null && { answers: row.answers }),
          ...(row.reason !== null && { reason: row.reason }),
          ...(row.message !== null && { message: row.message }),
        },
  created_at: row.created_at.toISOString(),
  expires_at: row.expires_at?.toISOString() ?? null,
  resolved_at: row.resolved_at?.toISOString() ?? null,
});

/** An expired lease holds nothing: any worker may take the call. */
const isTaken = ({ status, taken_until }: InteractionRow) =>
  status === 'pending' && taken_until !== null && taken_until.getTime() > Date.now();

export const presentLogEntry = (entry: LogEntry, deploymentId: string | null) =>
  ({
    object: 'event',
    id: entry.id,
    type: entry.type,
    seq: entry.seq,
    conversation_id: entry.conversation_id,
    task_id: entry.task_id,
    turn_id: entry.turn_id,
    deployment_id: deploymentId,
    created_at: entry.created_at.toISOString(),
    data: entry.data,
  }) as StreamEvent;

const errorOf = ({ error_code, error_message }: Pick<TurnRow, 'error_code' | 'error_message'>) =>
  error_code === null ? null : { code: error_code, message: error_message ?? '' };
