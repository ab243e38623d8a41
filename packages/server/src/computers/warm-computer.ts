import { fail } from '@vestra/contract/errors';
import type { Logger } from 'pino';
import { findSettings } from '../account/index.ts';
import { findDeployment } from '../agents/deployments/index.ts';
import { versionOfRow, versionToRun } from '../agents/versions/index.ts';
import { charge, computerTime } from '../billing/index.ts';
import type { Tenant } from '../platform/caller.ts';
import type { Database } from '../platform/db/pool.ts';
import { transaction } from '../platform/db/transaction.ts';
import type { JobSender } from '../platform/jobs/catalog.ts';
import { enterUser, findUser, type UserRow } from '../users/index.ts';
import type { AgentComputers } from './agent-computers.ts';
import { beginWaking, countWaking, endWaking, findComputer, keepAwake } from './store.ts';

const maxWaking = 10;

/** Wakes a user's computer before it is needed. A request during the wake-up starts no second one. */
export async function warmComputer(
  { db, jobs }: { db: Database; jobs: JobSender },
  tenant: Tenant,
  userId: string,
  keepMs: number | undefined,
): Promise<'ready' | 'waking'> {
  const owner = { ...tenant, userId };
  return transaction(db, async (tx) => {
    await enterUser(tx, tenant, userId);
    const waking = await countWaking(tx, tenant);
    const found = await findComputer(tx, owner);
    const isBegun = found !== null && (found.isWaking || found.isAwake);
    if (!isBegun) {
      if (waking >= maxWaking) throw fail('warm_limit');
      await beginWaking(tx, owner);
      await jobs.send(tx, 'computer.warm', { org_id: tenant.orgId, mode: tenant.mode, user_id: userId });
    }
    if (keepMs !== undefined) await keepAwake(tx, owner, keepMs);
    return found?.isAwake && !found.isWaking ? 'ready' : 'waking';
  });
}

/** The job: wakes the computer and prepares it for the user's next message. */
export async function runWarmUp(
  { db, work, log }: { db: Database; work: AgentComputers; log: Logger },
  tenant: Tenant,
  userId: string,
  signal: AbortSignal,
): Promise<void> {
  const owner = { ...tenant, userId };
  try {
    const user = await findUser(db, tenant, userId);
    // The user was erased meanwhile.
    if (!user) return;
    const wanted = await environmentOf(db, tenant, user);
    const seconds = await work.wake(owner, wanted?.environment ?? null, signal);
    const about = {
      userId,
      deploymentId: wanted?.deploymentId ?? null,
      conversationId: null,
      taskId: null,
      turnId: null,
    };
    await transaction(db, (tx) => charge(tx, tenant, { items: [computerTime.item(seconds, about)] }));
  } catch (error) {
    // The next task that needs the computer wakes it and reports the failure.
    log.warn({ err: error, user_id: userId }, 'a computer could not be woken early');
  } finally {
    await endWaking(db, owner);
  }
}

/** The environment of the user's default deployment, or else of the org's, in this mode; null if there is none. */
async function environmentOf(db: Database, tenant: Tenant, user: UserRow) {
  const { orgId, mode } = tenant;
  const byDefault = user.default_deployment ?? (await findSettings(db, tenant)).default_deployment;
  const found = byDefault === null ? undefined : await findDeployment(db, orgId, byDefault);
  if (!found || found.deployment.status === 'archived') return null;
  if (mode === 'live' && found.deployment.live_version === null) return null;
  const version = versionToRun(found.deployment, mode, null);
  const { manifest } = await versionOfRow(db, { id: found.deployment.id }, version);
  return { environment: manifest.environment, deploymentId: found.deployment.id };
}
