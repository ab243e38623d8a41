import type { ModelStep } from '@vestra/agent/step';
import type { Tenant } from '../../../caller.ts';
import type { Transaction } from '../../../db/pool.ts';
import { runPrepared } from '../../../db/prepared.ts';
import { FencedOff, type Run } from '../../../jobs/fence.ts';
import type { DeploymentRow } from '../../deployments/api.ts';
import { cleanText } from './storable-text.ts';
import type { ConversationRow, MessageRow, TurnRow } from './tables.ts';
import type { StepCost } from './trace-store.ts';

/**
 * The three statements that every plain message passes: each does in one round trip what the stores do in several.
 * Measured on two cores, a turn is bound by the number of statements and by nothing else.
 */

const lock = {
  name: 'lock_for_message',
  text: `SELECT c.*, d.status AS d_status, d.draft_version AS d_draft, d.live_version AS d_live
    FROM conversations c LEFT JOIN deployments d ON d.id = c.deployment_id AND d.org_id = c.org_id
    WHERE c.id = $1 AND c.org_id = $2 AND c.mode = $3 FOR NO KEY UPDATE OF c`,
};

export type RunnableDeployment = Pick<DeploymentRow, 'id' | 'status' | 'draft_version' | 'live_version'>;

/** The tenant's conversation, held, and the deployment that it runs; null where that was deleted. */
export async function lockForMessage(
  tx: Transaction,
  { orgId, mode }: Tenant,
  id: string,
): Promise<{ conversation: ConversationRow; deployment: RunnableDeployment | null } | undefined> {
  const [row] = await runPrepared<LockedRow>(tx, lock, [id, orgId, mode]);
  if (!row) return undefined;
  const { d_status, d_draft, d_live, ...conversation } = row;
  return {
    conversation: { ...conversation, last_event_seq: Number(conversation.last_event_seq) },
    deployment: d_status && {
      id: conversation.deployment_id as string,
      status: d_status,
      draft_version: d_draft,
      live_version: d_live,
    },
  };
}

type LockedRow = ConversationRow & {
  d_status: DeploymentRow['status'] | null;
  d_draft: number;
  d_live: number | null;
};

const accept = {
  name: 'accept_message',
  text: `WITH message AS (
    INSERT INTO messages (conversation_id, id, turn_id, turn_ordinal, role, text, context, attachments, created_at)
    VALUES ($1, $2, $3, $4, 'user', $5, $6::json, $7::jsonb, $8)
  ), taken AS (
    INSERT INTO runs (id, epoch, owner, lease_until)
    SELECT $3, nextval('run_epochs'), $9::text, clock_timestamp() + $10 * interval '1 millisecond'
    WHERE $9::text IS NOT NULL RETURNING epoch
  )
  INSERT INTO turns (conversation_id, ordinal, id, org_id, mode, user_id, deployment_id, deployment_version, state,
    request, origin, message_id, reply_message_id, history_until, base_summary, base_from, fence, reads_newest, created_at)
  VALUES ($1, $4, $3, $11, $12, $13, $14, $15, $16, $17::json, $18, $2, $19, $20, $21, $22, $23, $24, $8)
  RETURNING (SELECT epoch FROM taken) AS epoch`,
};

/** Keeps a message and its turn; with a `lease` the turn's reply belongs to this process from the commit on. */
export async function writeAccepted(
  tx: Transaction,
  message: MessageRow,
  turn: TurnRow,
  lease: { owner: string; leaseMs: number } | null,
): Promise<Run | null> {
  const [row] = await runPrepared<{ epoch: string | null }>(tx, accept, [
    turn.conversation_id,
    message.id,
    turn.id,
    turn.ordinal,
    message.text,
    jsonOrNull(message.context),
    JSON.stringify(message.attachments),
    turn.created_at,
    lease?.owner ?? null,
    lease?.leaseMs ?? 0,
    turn.org_id,
    turn.mode,
    turn.user_id,
    turn.deployment_id,
    turn.deployment_version,
    turn.state,
    JSON.stringify(turn.request),
    turn.origin,
    turn.reply_message_id,
    turn.history_until,
    turn.base_summary,
    turn.base_from,
    turn.fence,
    turn.reads_newest,
  ]);
  return row?.epoch ? { runId: turn.id, epoch: Number(row.epoch) } : null;
}

const settle = {
  name: 'settle_reply',
  text: `WITH ended AS (
    DELETE FROM runs WHERE id = $1 AND epoch = $2 RETURNING id
  ), step AS (
    INSERT INTO run_steps (run_id, step_index, kind, text, notice, model, input_tokens, output_tokens,
      cache_read_tokens, cost_micros, started_at, is_cut, cache_write_tokens)
    SELECT id, $3, 'model', $4, NULL, $5, $6, $7, $8, $9, $10, $18, $19 FROM ended
  ), message AS (
    INSERT INTO messages (conversation_id, id, turn_id, turn_ordinal, role, text, data, created_at, is_cut)
    SELECT $11, $12, id, $13, 'agent', $14, $15::json, $16, $18 FROM ended
  )
  UPDATE turns SET state = 'settled', active_ms = $17, reply_text = $14, reply_data = $15::json, settled_at = $16,
    reply_is_cut = $18
  FROM ended WHERE turns.id = ended.id RETURNING turns.id`,
};

/** The last step of a reply, its message and its end. Throws where the run has another owner. */
export async function writeReply(
  tx: Transaction,
  run: Run,
  { index, step, cost }: { index: number; step: ModelStep; cost: StepCost },
  message: MessageRow,
  settled: TurnRow,
): Promise<void> {
  const rows = await runPrepared(tx, settle, [
    run.runId,
    run.epoch,
    index,
    cleanText(step.text),
    cost.model,
    step.usage.inputTokens,
    step.usage.outputTokens,
    step.usage.cacheReadTokens,
    String(cost.costMicros),
    cost.startedAt,
    message.conversation_id,
    message.id,
    message.turn_ordinal,
    message.text,
    jsonOrNull(message.data),
    settled.settled_at,
    settled.active_ms,
    step.isCut,
    step.usage.cacheWriteTokens,
  ]);
  if (rows.length === 0) throw new FencedOff(run);
}

const jsonOrNull = (value: unknown) => (value === null ? null : JSON.stringify(value));
