import { newId } from '@vestra/contract/ids';
import type { Executor } from '../../platform/db/pool.ts';
import { pipelined, running } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { emit, isOfAccount, type OrgEvent, timeOf } from './emit.ts';

/** What one transaction tells of, in this order, in one statement: otherwise as `emit`. */
export async function emitAll(tx: Executor, events: readonly OrgEvent[]): Promise<void> {
  const [first, second] = events;
  if (!first) return;
  if (!second) return void (await emit(tx, first));
  await pipelined(tx, [emittingAll(events)]);
}

export function emittingAll(events: readonly OrgEvent[]) {
  const given = events.map(({ orgId, mode, type, deploymentId = null, data }) => ({
    id: newId('evt'),
    org_id: orgId,
    mode,
    type,
    deployment_id: deploymentId,
    data,
    delivery_ids: timeOf(newId('whd')),
    is_of_account: isOfAccount(type),
  }));
  return running(sql`
    WITH given AS (
      SELECT * FROM json_to_recordset(${sql.json(given)}::json) AS e(id text, org_id text, mode text, type text, deployment_id text,
        data jsonb, delivery_ids text, is_of_account boolean)
    ), written AS (
      INSERT INTO events (id, org_id, mode, type, deployment_id, data)
      SELECT id, org_id, mode, type, deployment_id, data FROM given
    ), waiting AS (
      INSERT INTO webhook_deliveries_pending
        (org_id, mode, endpoint_id, id, event_id, event_type, attempt, step, status, next_attempt_at, due_at)
      SELECT w.org_id, w.mode, w.id, g.delivery_ids || left(md5(g.id || w.id), 14), g.id, g.type, 1, 1, 'pending', now(),
        '-infinity'
      FROM given g JOIN webhook_endpoints w ON w.org_id = g.org_id AND w.mode = g.mode
      WHERE w.active AND w.events && ARRAY[g.type, '*']
        AND (w.deployment_id IS NULL OR w.deployment_id = g.deployment_id OR g.is_of_account)
      RETURNING endpoint_id
    )
    SELECT pg_notify('webhook_deliveries',
      CASE WHEN count(DISTINCT endpoint_id) <= 200 THEN string_agg(DISTINCT endpoint_id, ',') ELSE '' END)
    FROM waiting HAVING count(*) > 0`);
}
