import { randomBytes } from 'node:crypto';
import type { Stop } from '@vestra/agent/budget';
import type { InteractionDraft } from '@vestra/agent/interaction';
import type { NewWait } from '@vestra/agent/ports';
import { newId } from '@vestra/contract/ids';
import { sharedDate, sharedNow } from '../../platform/db/clock.ts';
import { storableJson, storableText } from '../../platform/db/storable-text.ts';
import type { Change } from '../records/change.ts';
import { insertFrame, insertInteraction } from '../records/interactions.ts';
import type { InteractionRow, TaskRow, TurnRow } from '../records/tables.ts';
import { tellWait } from '../records/tell.ts';
import type { OpenPage } from './ports.ts';

/** Makes the interaction that a call waits on. A call of the caller's own tool keeps the id of the call. */
export async function openWait(
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
    status: 'pending',
    nonce: draft.kind === 'hands_approval' ? randomBytes(18).toString('base64url') : null,
    expires_at: draft.expires_in_s === null ? null : new Date(sharedNow() + draft.expires_in_s * 1000),
  });
  if (page?.frame) await insertFrame(change.tx, row, page.frame);
  change.conversation.open_interactions += 1;
  tellWait(change, row, of.given);
  return row;
}

/** A cap that ended work shows itself where people look for what the agent needs; it can only be read. */
export async function tellLimit(change: Change, task: TaskRow, stop: Stop): Promise<void> {
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
  tellWait(change, row, null);
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
