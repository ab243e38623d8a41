import { fail } from '@vestra/contract/errors';
import {
  type DeploymentRow,
  holdDeployment,
  requireDeployment,
  resolveDeployment,
} from '../../agents/deployments/index.ts';
import { versionToRun } from '../../agents/versions/index.ts';
import { holdConversation, openConversation } from '../../engine/conversations/index.ts';
import type { Committed } from '../../engine/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { timezoneOf } from '../../users/index.ts';
import type { RoutineRow } from './tables.ts';

/** The deployment that a body names, perhaps at a version; it can run in this mode and is not deleted meanwhile. */
export async function nameDeployment(
  tx: Transaction,
  { orgId, mode }: Tenant,
  reference: string,
): Promise<NamedDeployment> {
  const { deployment, version } = await resolveDeployment(tx, orgId, reference, 'deployment');
  const held = await holdDeployment(tx, orgId, deployment.id, 'deployment');
  versionToRun(held, mode, version);
  return { deployment: held, version };
}

type NamedDeployment = { deployment: DeploymentRow; version: number | null };

/** A routine without a deployment of its own runs on the default, which it asks for at each run; null: there is none. */
export async function requireRunning(
  tx: Transaction,
  { orgId, mode }: Tenant,
  { deployment_id, deployment_version }: Pick<RoutineRow, 'deployment_id' | 'deployment_version'>,
): Promise<NamedDeployment> {
  if (deployment_id === null) throw fail('deployment_required', { param: 'deployment' });
  const deployment = await requireDeployment(tx, orgId, deployment_id);
  versionToRun(deployment, mode, deployment_version);
  return { deployment, version: deployment_version };
}

/** Where the runs of a routine are said, where no conversation was named for it. */
export async function openForRuns(
  tx: Transaction,
  { orgId, mode }: Tenant,
  { userId, deployment, version }: NamedDeployment & { userId: string | null },
): Promise<Committed> {
  const place = { tenant: { orgId, mode }, userId, deployment, pinned: version, metadata: {} };
  return (await openConversation(tx, place, async () => {})).committed;
}

export const columnsOf = ({
  deployment,
  version,
}: NamedDeployment): Pick<RoutineRow, 'deployment_id' | 'deployment_version'> => ({
  deployment_id: deployment.id,
  deployment_version: version,
});

/** The conversation that a body names, which is not deleted meanwhile. */
export async function nameConversation(
  tx: Transaction,
  tenant: Tenant,
  conversationId: string,
): Promise<{ user_id: string | null }> {
  const conversation = await holdConversation(tx, tenant, conversationId);
  if (!conversation) throw fail('conversation_not_found', { param: 'conversation_id' });
  return conversation;
}

export function assertSameUser(conversation: { user_id: string | null }, userId: string | null): void {
  if (conversation.user_id !== userId) throw fail('conversation_user_mismatch', { param: 'conversation_id' });
}

export type RoutineZone = { timezone: string; own_timezone: boolean };

/** The zone that was given, else the user's, else UTC. */
export async function zoneFor(
  tx: Transaction,
  tenant: Tenant,
  { timezone, userId }: { timezone: string | undefined; userId: string | null },
): Promise<RoutineZone> {
  if (timezone !== undefined) return { timezone, own_timezone: true };
  const users = userId === null ? null : await timezoneOf(tx, tenant, userId);
  return { timezone: users ?? 'UTC', own_timezone: false };
}
