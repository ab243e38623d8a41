import { newId } from '@vestra/contract/ids';
import type { Origin } from '../../platform/caller.ts';
import type { Executor } from '../../platform/db/pool.ts';
import { insert } from '../../platform/db/query.ts';
import { auditEntries } from './tables.ts';

type AuditAction = {
  action: string;
  target?: { type: string; id: string };
  /** Names of what changed; never a value that could be a secret. */
  details?: Record<string, unknown>;
};

/** Writes down who changed what, in the transaction of the change. */
export async function recordAudit(
  tx: Executor,
  origin: Origin,
  { action, target, details = {} }: AuditAction,
): Promise<void> {
  await insert(tx, auditEntries, {
    id: newId('aud'),
    org_id: origin.orgId,
    mode: origin.mode,
    action,
    actor_type: origin.actor.type,
    actor_id: origin.actor.id,
    actor_name: origin.actor.name,
    target_type: target?.type,
    target_id: target?.id,
    ip: origin.ip,
    request_id: origin.requestId,
    details,
  });
}
