import type { ToldByWebhook } from '@vestra/contract/events';
import { newId } from '@vestra/contract/ids';
import type { Mode } from '@vestra/contract/route';
import type { WebhookEventType } from '@vestra/contract/webhook-event-types';
import type { Executor } from '../../platform/db/pool.ts';
import { insert, pipelined, running } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { events } from './tables.ts';

export type OrgEvent = ToldByWebhook & { orgId: string; mode: Mode; deploymentId?: string | null };

/**
 * Writes an event that other systems hear of, and one delivery for each endpoint that listens, in the transaction of
 * what it tells: all happen or none. One statement, since it is part of every reply. It notifies only where there is
 * something to deliver: a notification makes transactions commit one after the other.
 */
export async function emit(tx: Executor, event: OrgEvent): Promise<string> {
  const { id, statement } = emitting(event);
  await pipelined(tx, [statement]);
  return id;
}

export function emitting(event: OrgEvent) {
  const id = newId('evt');
  const { orgId, mode, type, deploymentId = null, data } = event;
  const statement = running(sql`
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

/** Writes an event that no endpoint is told of by itself. */
export async function emitToNobody(tx: Executor, event: OrgEvent): Promise<string> {
  const id = newId('evt');
  const { orgId, mode, type, deploymentId = null, data } = event;
  await insert(tx, events, { id, org_id: orgId, mode, type, deployment_id: deploymentId, data });
  return id;
}

/** Prefix and time of an id. The statement adds what tells apart the deliveries that it alone can count. */
export const timeOf = (id: string) => id.slice(0, 'whd_'.length + 10);

/** What the account tells, and not one of its deployments: endpoints of every deployment file hear it. */
export const isOfAccount = (type: WebhookEventType) =>
  type === 'webhook.disabled' || /^(key|mcp_grant|user|usage|tool_server)\./.test(type);
