import type { WebhookEventType } from '@vestra/contract/events';
import { newId } from '@vestra/contract/ids';
import type { Mode } from '@vestra/contract/route';
import type { Executor } from '../../db/pool.ts';
import { events } from './tables.ts';

export type OrgEvent = {
  orgId: string;
  mode: Mode;
  type: WebhookEventType;
  deploymentId?: string | null;
  /** The resource as its GET shows it, plus the extra fields of the type. */
  data: Record<string, unknown>;
};

/** Writes an event that other systems hear of, in the transaction of what it tells: both happen or neither. */
export async function emit(tx: Executor, event: OrgEvent): Promise<string> {
  const id = newId('evt');
  await tx.insert(events).values({
    id,
    org_id: event.orgId,
    mode: event.mode,
    type: event.type,
    deployment_id: event.deploymentId ?? null,
    data: event.data,
  });
  return id;
}
