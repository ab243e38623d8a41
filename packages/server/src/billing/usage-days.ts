import type { Tenant } from '../platform/caller.ts';
import type { Transaction } from '../platform/db/pool.ts';
import { run } from '../platform/db/query.ts';
import { type Sql, sql } from '../platform/db/sql.ts';
import { ledgerEntries, usageDays, usageSummedDays, usageWorkDays } from './tables.ts';

/**
 * The daily sums behind the usage report. A ledger row is in the sums of its day, or it belongs to an unfolded entry, or
 * its day is not in `usage_summed_days` and is read from the ledger. Every change below holds the lock of the wallet and
 * is one transaction, so that every snapshot sees each row exactly once.
 */

/** A spend row of the ledger as the sums name it. Empty text replaces null, which a key cannot contain. */
export const lineColumns = sql.raw(`(created_at AT TIME ZONE 'UTC')::date AS day, COALESCE(user_id, '') AS user_id,
  COALESCE(deployment_id, '') AS deployment_id, COALESCE(conversation_id, '') AS conversation_id,
  COALESCE(task_id, '') AS task_id, COALESCE(model, '') AS model, kind, amount_micros AS cost_micros,
  CASE WHEN unit = 'input_tokens' THEN quantity ELSE 0 END AS input_tokens,
  CASE WHEN unit = 'output_tokens' THEN quantity ELSE 0 END AS output_tokens`);

/** The spend rows of one UTC day. `day` is a column or a value of type date. */
export const spendOfDay = ({ orgId, mode }: Tenant, day: Sql) => sql`account = 'spend'
  AND org_id = ${orgId} AND mode = ${mode}
  AND created_at >= ${day}::timestamp AT TIME ZONE 'UTC' AND created_at < (${day} + 1)::timestamp AT TIME ZONE 'UTC'`;

const sumColumns = sql.raw('sum(cost_micros), sum(input_tokens), sum(output_tokens)');
const addSums = sql.raw(`cost_micros = kept.cost_micros + EXCLUDED.cost_micros,
  input_tokens = kept.input_tokens + EXCLUDED.input_tokens,
  output_tokens = kept.output_tokens + EXCLUDED.output_tokens`);

const joined = (column: 'models' | 'kinds') =>
  sql.raw(`${column} = CASE WHEN kept.${column} @> EXCLUDED.${column} THEN kept.${column}
    ELSE ARRAY(SELECT DISTINCT unnest(kept.${column} || EXCLUDED.${column})) END`);

/** Parts of a WITH that add the rows of its part `lines` to the sums. */
const addLines = ({ orgId, mode }: Tenant) => sql`usage_by_day AS (
    INSERT INTO ${usageDays} AS kept
      (org_id, mode, user_id, day, deployment_id, model, kind, cost_micros, input_tokens, output_tokens)
    SELECT ${orgId}, ${mode}, COALESCE(user_id, '*'), day, deployment_id, model, kind, ${sumColumns} FROM lines
    GROUP BY GROUPING SETS ((user_id, day, deployment_id, model, kind), (day, deployment_id, model, kind))
    ON CONFLICT (org_id, mode, user_id, day, deployment_id, model, kind) DO UPDATE SET ${addSums}
  ), usage_by_work AS (
    INSERT INTO ${usageWorkDays} AS kept (org_id, mode, user_id, day, conversation_id, task_id, deployment_id,
      models, kinds, cost_micros, input_tokens, output_tokens)
    SELECT ${orgId}, ${mode}, user_id, day, conversation_id, task_id, deployment_id,
      COALESCE(array_agg(DISTINCT model) FILTER (WHERE task_id <> ''), '{}'),
      COALESCE(array_agg(DISTINCT kind) FILTER (WHERE task_id <> ''), '{}'), ${sumColumns}
    FROM lines GROUP BY user_id, day, conversation_id, task_id, deployment_id
    ON CONFLICT (org_id, mode, user_id, day, conversation_id, task_id, deployment_id)
    DO UPDATE SET ${joined('models')}, ${joined('kinds')}, ${addSums}
  )`;

/**
 * Parts of the roll-up's WITH that add the rows behind its part `taken` to the sums of their days. An entry of an older
 * version does not name its rows, so its day is read from the ledger until the job has summed it again.
 */
export const addTakenUsage = (tenant: Tenant) => sql`lines AS (
    SELECT found.* FROM taken
    JOIN ${usageSummedDays} AS summed
      ON summed.org_id = ${tenant.orgId} AND summed.mode = ${tenant.mode} AND summed.day = taken.day
    CROSS JOIN LATERAL unnest(taken.spend_ids) AS spend(id)
    CROSS JOIN LATERAL (SELECT ${lineColumns} FROM ${ledgerEntries} WHERE id = spend.id LIMIT 1) AS found
  ), ${addLines(tenant)}, forgotten AS (
    DELETE FROM ${usageSummedDays} WHERE org_id = ${tenant.orgId} AND mode = ${tenant.mode}
      AND day IN (SELECT day FROM taken WHERE spend_ids IS NULL)
  )`;

/** Sums a day from the ledger, without the rows of unfolded entries. The caller has locked the wallet. */
export async function sumDay(tx: Transaction, tenant: Tenant, day: string): Promise<void> {
  const { orgId, mode } = tenant;
  const isDay = sql`org_id = ${orgId} AND mode = ${mode} AND day = ${day}::date`;
  // Separate conditions, because each has its own index.
  await run(tx, sql`DELETE FROM ${usageDays} WHERE ${isDay} AND user_id = '*'`);
  await run(tx, sql`DELETE FROM ${usageDays} WHERE ${isDay} AND user_id <> '*'`);
  await run(tx, sql`DELETE FROM ${usageWorkDays} WHERE ${isDay}`);
  await run(
    tx,
    sql`WITH lines AS (
      SELECT ${lineColumns} FROM ${ledgerEntries} WHERE ${spendOfDay(tenant, sql`${day}::date`)}
        AND id NOT IN (SELECT unnest(spend_ids) FROM unfolded_entries WHERE ${isDay})
    ), ${addLines(tenant)}
    INSERT INTO ${usageSummedDays} (org_id, mode, day) VALUES (${orgId}, ${mode}, ${day}::date) ON CONFLICT DO NOTHING`,
  );
}

/** Moves the sums of one user to another. The caller has locked the wallet and moved the rows of the ledger. */
export async function moveUsage(tx: Transaction, { orgId, mode }: Tenant, from: string, to: string): Promise<void> {
  const theirs = sql`org_id = ${orgId} AND mode = ${mode} AND user_id = ${from}`;
  await run(
    tx,
    sql`WITH moved AS (DELETE FROM ${usageDays} WHERE ${theirs} RETURNING *)
      INSERT INTO ${usageDays} AS kept
        (org_id, mode, user_id, day, deployment_id, model, kind, cost_micros, input_tokens, output_tokens)
      SELECT org_id, mode, ${to}, day, deployment_id, model, kind, cost_micros, input_tokens, output_tokens FROM moved
      ON CONFLICT (org_id, mode, user_id, day, deployment_id, model, kind) DO UPDATE SET ${addSums}`,
  );
  await run(
    tx,
    sql`WITH moved AS (DELETE FROM ${usageWorkDays} WHERE ${theirs} RETURNING *)
      INSERT INTO ${usageWorkDays} AS kept (org_id, mode, user_id, day, conversation_id, task_id, deployment_id,
        models, kinds, cost_micros, input_tokens, output_tokens)
      SELECT org_id, mode, ${to}, day, conversation_id, task_id, deployment_id,
        models, kinds, cost_micros, input_tokens, output_tokens FROM moved
      ON CONFLICT (org_id, mode, user_id, day, conversation_id, task_id, deployment_id)
      DO UPDATE SET ${joined('models')}, ${joined('kinds')}, ${addSums}`,
  );
}
