import type { ModelStep } from '@vestra/agent/step';
import type { DeploymentRow, RunnableDeployment } from '../../agents/deployments/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { assignments, insertFrom, maybeOne, reading, running } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { storableText } from '../../platform/db/storable-text.ts';
import { columnsOf, count, integer, text } from '../../platform/db/table.ts';
import type { Run } from '../../platform/jobs/run-owner.ts';
import type { Subject } from './subject.ts';
import {
  type ConversationRow,
  conversations,
  type MessageRow,
  messages,
  type TaskRow,
  type TurnRow,
  tasks,
  turns,
} from './tables.ts';
import type { StepCost } from './trace-store.ts';

const ofColumns = columnsOf(conversations, 'c');
const lockedShape = {
  ...conversations.columns,
  d_status: text<DeploymentRow['status']>().nullable(),
  d_draft: integer().nullable(),
  d_live: integer().nullable(),
};

/** The tenant's conversation, held, and the deployment that it runs; null where that was deleted. */
export async function lockForMessage(
  tx: Transaction,
  { orgId, mode }: Tenant,
  id: string,
): Promise<{ conversation: ConversationRow; deployment: RunnableDeployment | null } | undefined> {
  const row = await maybeOne(
    tx,
    lockedShape,
    sql`SELECT ${ofColumns}, d.status AS d_status, d.draft_version AS d_draft, d.live_version AS d_live
      FROM conversations c LEFT JOIN deployments d ON d.id = c.deployment_id AND d.org_id = c.org_id
      WHERE c.id = ${id} AND c.org_id = ${orgId} AND c.mode = ${mode} FOR NO KEY UPDATE OF c`,
  );
  if (!row) return undefined;
  const { d_status: status, d_draft, d_live: live_version, ...conversation } = row;
  const deployment = status && {
    id: conversation.deployment_id as string,
    org_id: orgId,
    status,
    draft_version: d_draft as number,
    live_version,
  };
  return { conversation, deployment };
}

/**
 * Keeps a message and its turn; with a `lease` the turn's reply belongs to this process from the commit on, as the run of
 * the epoch that it answers.
 */
export const acceptingMessage = (
  message: MessageRow,
  turn: TurnRow,
  lease: { owner: string; leaseMs: number } | null,
) =>
  reading(
    { epoch: count().nullable() },
    sql`WITH message AS (
      INSERT INTO messages (conversation_id, id, turn_id, turn_ordinal, role, text, context, attachments, created_at)
      VALUES (${turn.conversation_id}, ${message.id}, ${turn.id}, ${turn.ordinal}, 'user', ${message.text},
        ${jsonOrNull(message.context)}::json, ${sql.json(message.attachments)}::jsonb, ${turn.created_at})
    ), taken AS (
      INSERT INTO runs (id, epoch, owner, lease_until)
      SELECT ${turn.id}, nextval('run_epochs'), ${lease?.owner ?? null}::text,
        clock_timestamp() + ${lease?.leaseMs ?? 0}::int * interval '1 millisecond'
      WHERE ${lease !== null}::boolean RETURNING epoch
    )
    INSERT INTO turns (conversation_id, ordinal, id, org_id, mode, user_id, deployment_id, deployment_version, state,
      request, origin, message_id, reply_message_id, history_until, base_summary, base_from, fence, reads_newest,
      created_at)
    VALUES (${turn.conversation_id}, ${turn.ordinal}, ${turn.id}, ${turn.org_id}, ${turn.mode}, ${turn.user_id},
      ${turn.deployment_id}, ${turn.deployment_version}, ${turn.state}, ${sql.json(turn.request)}::json, ${turn.origin},
      ${message.id}, ${turn.reply_message_id}, ${turn.history_until}, ${turn.base_summary}, ${turn.base_from},
      ${turn.fence}, ${turn.reads_newest}, ${turn.created_at})
    RETURNING (SELECT epoch FROM taken) AS epoch`,
  );

/** The run that `acceptingMessage` has taken. */
export const runOf = (turn: TurnRow, [row]: readonly { epoch: number | null }[]): Run | null =>
  row?.epoch ? { runId: turn.id, epoch: row.epoch } : null;

/** The last step of a run, with the lease under which it is written. */
export type LastStep = { run: Run; index: number; step: ModelStep; cost: StepCost };

/** Ends the lease and writes the last step. Fails if another process owns the run. */
export const lastStepStatement = (last: LastStep) =>
  running(sql`WITH ${endedLease(last)} SELECT expect_that(EXISTS (SELECT FROM ended), 'the owner of the run')`);

/** The same with the rows that the end of the run changes, in one statement. */
export const endRunStatement = (
  last: LastStep,
  { turn, task }: Subject,
  changes: { turn: Partial<TurnRow>; task: Partial<TaskRow> | null; message: MessageRow | null },
) =>
  running(sql`WITH ${endedLease(last)}${
    changes.message ? sql`, message AS (${insertFrom(messages, changes.message, sql`ended`)})` : sql.empty
  }${
    task && changes.task
      ? sql`, task AS (UPDATE tasks SET ${assignments(tasks, changes.task)} FROM ended
          WHERE tasks.org_id = ${task.org_id} AND tasks.mode = ${task.mode} AND tasks.id = ${task.id})`
      : sql.empty
  }, settled AS (
      UPDATE turns SET ${assignments(turns, changes.turn)} FROM ended WHERE turns.id = ${turn.id} RETURNING turns.id
    )
    SELECT expect_that(EXISTS (SELECT FROM settled), 'the owner of the run')`);

/** `ended` is the row of the lease; it is empty if another process owns the run. */
const endedLease = ({ run, index, step, cost }: LastStep) => sql`ended AS (
      DELETE FROM runs WHERE id = ${run.runId} AND epoch = ${run.epoch} RETURNING id
    ), step AS (
      INSERT INTO run_steps (run_id, step_index, kind, text, notice, model, input_tokens, output_tokens,
        cache_read_tokens, cache_write_tokens, cost_micros, started_at, is_cut, reasoning)
      SELECT id, ${index}, 'model', ${storableText(step.text)}, NULL, ${cost.model}, ${step.usage.inputTokens},
        ${step.usage.outputTokens}, ${step.usage.cacheReadTokens}, ${step.usage.cacheWriteTokens + (step.usage.cacheWriteLongTokens ?? 0)}, ${cost.costMicros},
        ${cost.startedAt}, ${step.isCut}, ${jsonOrNull(step.reasoning)}::json FROM ended
    )`;

const jsonOrNull = (value: unknown) => (value === null ? null : sql.json(value));
