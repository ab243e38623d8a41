import { randomBytes } from 'node:crypto';
import type { Stop } from '@vestra/agent/budget';
import type { InteractionDraft } from '@vestra/agent/interaction';
import type { NewWait } from '@vestra/agent/ports';
import { newId } from '@vestra/contract/ids';
import type { Tenant } from '../../platform/caller.ts';
import { sharedDate, sharedNow } from '../../platform/db/clock.ts';
import { storableJson, storableText } from '../../platform/db/sql.ts';
import { isDatabaseUnreachable } from '../../platform/db/unreachable.ts';
import { type Change, changeConversation } from '../records/change.ts';
import {
  type DueInteraction,
  dueInteractions,
  findInteraction,
  insertFrame,
  insertInteraction,
  updateInteraction,
  waitingToConnect,
} from '../records/interactions.ts';
import { publishInteraction, publishResolvedInteraction } from '../records/publish.ts';
import type { InteractionRow, TaskRow, TurnRow } from '../records/tables.ts';
import { findTask, updateTask } from '../records/tasks.ts';
import { findTurn, updateTurn } from '../records/turns.ts';
import type { OpenPage, Turns } from './ports.ts';
import { ignoreErased, sendTaskJob, startQueuedReply } from './start-run.ts';

/** Creates the interaction that a call waits for. A call of the caller's function keeps the id of the call. */
export async function createInteraction(
  change: Change,
  of: { turn: TurnRow; taskId: string | null; runId: string; given: unknown; page?: OpenPage | null },
  { callId, purpose, draft, kept }: NewWait,
): Promise<InteractionRow> {
  const page = draft.type === 'handoff' ? of.page : null;
  const row = await insertInteraction(change.tx, {
    ...columnsOf(change, of.turn, of.taskId, of.runId, draft),
    browser: page ? { suggested_mode: 'control', url: page.url } : null,
    id: draft.type === 'tool_call' ? callId : newId('int'),
    call_id: callId,
    purpose,
    kept: kept === undefined ? null : storableJson(kept),
    deployment_id: draft.type === 'tool_call' ? change.conversation.deployment_id : null,
    progress: draft.progress ? storableText(draft.progress) : null,
    status: 'pending',
    nonce: draft.kind === 'hands_approval' ? randomBytes(18).toString('base64url') : null,
    expires_at: draft.expires_in_s === null ? null : new Date(sharedNow() + draft.expires_in_s * 1000),
  });
  if (page?.frame) await insertFrame(change.tx, row, page.frame);
  change.conversation.open_interactions += 1;
  publishInteraction(change, row, of.given);
  return row;
}

/** Creates a resolved, read-only interaction that shows which spending limit ended the task. */
export async function createLimitInteraction(change: Change, task: TaskRow, stop: Stop): Promise<void> {
  const draft: InteractionDraft = {
    kind: 'plan_limit',
    type: 'approval',
    summary: 'The work ended because a spending limit was reached.',
    moves_money: false,
    requires_present_user: false,
    details: { reason: stop.reason, ...(stop.message !== null && { message: stop.message }) },
    expires_in_s: null,
  };
  const row = await insertInteraction(change.tx, {
    ...columnsOf(change, { id: task.turn_id }, task.id, task.id, draft),
    id: newId('int'),
    status: 'resolved',
    decision: 'denied',
    reason: stop.reason,
    message: stop.message,
    resolved_at: sharedDate(),
  });
  publishInteraction(change, row, null);
}

function columnsOf(
  { conversation }: Change,
  turn: { id: string },
  taskId: string | null,
  runId: string,
  draft: InteractionDraft,
) {
  return {
    org_id: conversation.org_id,
    mode: conversation.mode,
    user_id: conversation.user_id,
    conversation_id: conversation.id,
    turn_id: turn.id,
    task_id: taskId,
    run_id: runId,
    kind: draft.kind,
    type: draft.type,
    summary: storableText(draft.summary),
    moves_money: draft.moves_money,
    requires_present_user: draft.requires_present_user,
    approver: draft.approver ?? 'user',
    questions: draft.questions === undefined ? null : (storableJson(draft.questions) as InteractionRow['questions']),
    details: storableJson(draft.details) as Record<string, unknown>,
    is_hidden: conversation.is_hidden,
  };
}

/** The fields of a resolved interaction. */
export type InteractionResolution = Pick<InteractionRow, 'status' | 'decision'> &
  Partial<Pick<InteractionRow, 'answers' | 'reason' | 'message' | 'output' | 'is_error'>>;

/**
 * Writes the resolution and resumes the run that waited for it. The caller holds the conversation, and the row is
 * pending.
 */
export async function resolveInteraction(
  engine: Turns,
  change: Change,
  row: InteractionRow,
  resolution: InteractionResolution,
): Promise<InteractionRow> {
  const resolved = await updateInteraction(change.tx, row, { ...resolution, resolved_at: sharedDate() });
  change.conversation.open_interactions -= 1;
  publishResolvedInteraction(change, resolved);
  await resumeRun(engine, change, resolved);
  return resolved;
}

/** A running run needs no job: it checks its interactions before it waits again. */
async function resumeRun(engine: Turns, change: Change, row: InteractionRow): Promise<void> {
  const { tx, conversation } = change;
  const turn = await findTurn(tx, row.turn_id);
  if (turn?.state !== 'waiting') return;
  if (row.task_id !== null) {
    const task = await findTask(tx, { orgId: row.org_id, mode: row.mode }, row.task_id);
    if (task?.status !== 'waiting') return;
    if (turn.origin === 'batch' && !(await engine.batchItems.mayResume(change, turn))) return;
    await resumeTask(change, task);
    return;
  }
  const queued = await updateTurn(tx, turn.id, { state: 'queued' });
  conversation.queued_turns += 1;
  if (conversation.replying_turn_id === null) await startQueuedReply(engine, change, queued);
}

/** Resumes a waiting task through a job. */
export async function resumeTask(change: Change, waiting: TaskRow): Promise<void> {
  const task = await updateTask(change.tx, waiting, { status: 'working' });
  sendTaskJob(change, task);
  await updateTurn(change.tx, task.turn_id, { state: 'working' });
}

/** Resolves the interactions that ask the user to connect this app, and resumes their runs. */
export async function resolveConnects(
  engine: Turns,
  { orgId, mode }: Tenant,
  { userId, app, name }: { userId: string | null; app: string; name: string },
): Promise<void> {
  const waiting = await waitingToConnect(engine.db, { orgId, mode }, { userId, app });
  for (const { id, conversation_id } of waiting) {
    await changeConversation(engine, conversation_id, null, async (change) => {
      const row = await findInteraction(change.tx, { orgId, mode }, id);
      if (row?.status === 'pending') await resolveInteraction(engine, change, row, connectedTo(name));
    }).catch(ignoreErased);
  }
}

export const connectedTo = (name: string): InteractionResolution => ({
  status: 'resolved',
  decision: 'answered',
  output: `${name} is connected. You have its tools now.`,
  is_error: false,
});

const pageSize = 200;

/** Expires overdue interactions, oldest first, and resumes their runs. */
export async function expireInteractions(engine: Turns): Promise<void> {
  // Each page starts after the last row, so that an interaction that cannot be expired is not read twice.
  let last: DueInteraction | null = null;
  for (;;) {
    const due: DueInteraction[] = await dueInteractions(engine.db, last, pageSize);
    for (const row of due) {
      // One failure must not block the interactions behind it. The next run of the job tries it again.
      await expire(engine, row).catch((error: unknown) => {
        if (isDatabaseUnreachable(error)) throw error;
        engine.log.error({ err: error, interaction_id: row.id }, 'could not expire an interaction');
      });
    }
    if (due.length < pageSize) return;
    last = due.at(-1) ?? null;
  }
}

async function expire(engine: Turns, { org_id: orgId, mode, id, conversation_id }: DueInteraction): Promise<void> {
  await changeConversation(engine, conversation_id, null, async (change) => {
    const row = await findInteraction(change.tx, { orgId, mode }, id);
    if (row?.status !== 'pending') return;
    await resolveInteraction(engine, change, row, { status: 'expired', decision: 'expired' });
  }).catch(ignoreErased);
}
