import type { ToldByWebhook } from '@vestra/contract/events';
import { newId } from '@vestra/contract/ids';
import type { Mode } from '@vestra/contract/route';
import type { WebhookEventType } from '@vestra/contract/webhook-event-types';
import type { Executor } from '../../platform/db/pool.ts';
import { insert, runStatement, sendLater } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { events } from '../tables.ts';

export type OrgEvent = ToldByWebhook & { orgId: string; mode: Mode; deploymentId?: string | null };

/**
 * Writes an event and one pending delivery per subscribed webhook endpoint, in the transaction of the change that it
 * reports. This is one statement, because every reply runs it. It notifies only if there is a delivery: PostgreSQL
 * serialises the commits of transactions that notify.
 */
export async function emit(tx: Executor, event: OrgEvent): Promise<string> {
  const { id, statement } = emitStatement(event);
  await sendLater(tx, [statement]);
  return id;
}

export function emitStatement(event: OrgEvent) {
  const id = newId('evt');
  const { orgId, mode, type, deploymentId = null, data } = event;
  const statement = runStatement(sql`
    WITH written AS (
      INSERT INTO ${events} (id, org_id, mode, type, deployment_id, data)
      VALUES (${id}, ${orgId}, ${mode}, ${type}, ${deploymentId}, ${sql.json(data)}::jsonb)
    ), waiting AS (
      INSERT INTO webhook_deliveries_pending
        (org_id, mode, endpoint_id, id, event_id, event_type, attempt, step, status, next_attempt_at, due_at)
      SELECT org_id, mode, id, ${timeOf(newId('whd'))}::text || left(md5(${id} || id), 14), ${id}, ${type}, 1, 1,
        'pending', now(), '-infinity'
      FROM webhook_endpoints
      WHERE org_id = ${orgId} AND mode = ${mode} AND active AND events && ARRAY[${type}::text, '*']
        AND (deployment_id IS NULL OR deployment_id = ${deploymentId} OR ${isOfAccount(type)}::boolean)
      RETURNING endpoint_id
    )
    SELECT pg_notify('webhook_deliveries', CASE WHEN count(*) <= 200 THEN string_agg(endpoint_id, ',') ELSE '' END)
    FROM waiting HAVING count(*) > 0`);
  return { id, statement };
}

/** Writes an event without deliveries. */
export async function emitWithoutDeliveries(tx: Executor, event: OrgEvent): Promise<string> {
  const id = newId('evt');
  const { orgId, mode, type, deploymentId = null, data } = event;
  await insert(tx, events, { id, org_id: orgId, mode, type, deployment_id: deploymentId, data });
  return id;
}

/**
 * The prefix and time of an id. The statement appends a hash of event and endpoint to make each delivery's id unique.
 */
const timeOf = (id: string) => id.slice(0, 'whd_'.length + 10);

/** Events of the account and not of a deployment. Endpoints of every deployment receive them. */
const isOfAccount = (type: WebhookEventType) =>
  type === 'webhook.disabled' || /^(key|mcp_grant|user|usage|tool_server)\./.test(type);

/** Like `emit`, for several events in this order, in one statement. */
export async function emitAll(tx: Executor, events: readonly OrgEvent[]): Promise<void> {
  const [first, second] = events;
  if (!first) return;
  if (!second) return void (await emit(tx, first));
  await sendLater(tx, [emitAllStatement(events)]);
}

export function emitAllStatement(events: readonly OrgEvent[]) {
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
  return runStatement(sql`
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
