import { newId } from '@vestra/contract/ids';
import type { Mode } from '@vestra/contract/route';
import { type DeploymentRow, lockDeployment } from '../../agents/deployments/index.ts';
import type { FileObjects } from '../../agents/versions/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { readCron } from './cron.ts';
import { changesOf, nextRunsAfter, type RoutineChanges, type RoutineZone, zoneFor } from './routine.ts';
import { readEvery } from './schedule.ts';
import { deleteRoutines, insertRoutines, lockFileManaged, updateRoutines } from './store.ts';
import type { NewRoutine, RoutineRow } from './tables.ts';

export type FileRoutine = Omit<FileObjects['routines'][number], 'name' | 'for'> & {
  name: string;
  /** One routine for each user; empty for the org's own agent. */
  users: readonly string[];
};

/**
 * Makes these the only routines that the deployment file has in this mode; their names differ. A routine with the same
 * name and user keeps its id, conversation and counts, and its error is cleared. Routines that are no longer declared
 * are deleted. The audit entry is that of the apply.
 */
export async function replaceFileRoutines(
  tx: Transaction,
  { deployment, mode, declared }: { deployment: DeploymentRow; mode: Mode; declared: readonly FileRoutine[] },
): Promise<void> {
  await lockDeployment(tx, deployment.org_id, deployment.id);
  const tenant: Tenant = { orgId: deployment.org_id, mode };
  const kept = await lockFileManaged(tx, tenant, deployment);
  const before = new Map(kept.map((row) => [keyOf(row), row]));
  const nextRunOf = nextRunsAfter(sharedDate());
  const made: NewRoutine[] = [];
  const changed: Changed = new Map();
  for (const wanted of await wantedRows(tx, tenant, declared)) {
    const row = before.get(keyOf(wanted));
    before.delete(keyOf(wanted));
    if (row) collect(changed, row, changesOf(row, wanted, nextRunOf));
    else made.push({ ...wanted, ...placeOf(deployment, mode), next_run_at: nextRunOf(wanted) });
  }
  await deleteRoutines(
    tx,
    [...before.values()].map(({ id }) => id),
  );
  for (const { ids, changes } of changed.values()) await updateRoutines(tx, ids, changes);
  await insertRoutines(tx, made);
}

type DeclaredRow = Required<
  Pick<
    RoutineRow,
    | 'user_id'
    | 'name'
    | 'ask'
    | 'success_criteria'
    | 'kind'
    | 'every'
    | 'cron'
    | 'timezone'
    | 'own_timezone'
    | 'filters'
    | 'enabled'
    | 'status'
  >
>;

/** One for each routine and user. */
async function wantedRows(tx: Transaction, tenant: Tenant, declared: readonly FileRoutine[]): Promise<DeclaredRow[]> {
  const zones = new Map<string | null, RoutineZone>();
  const usersZone = async (userId: string | null) => {
    const zone = zones.get(userId) ?? (await zoneFor(tx, tenant, { timezone: undefined, userId }));
    zones.set(userId, zone);
    return zone;
  };
  const rows: DeclaredRow[] = [];
  for (const { name, ask, success_criteria = null, enabled, filters, timezone, users, ...when } of declared) {
    const cron = cronOf(when);
    for (const userId of users.length === 0 ? [null] : new Set(users)) {
      const common = { user_id: userId, name, ask, success_criteria, enabled, status: 'active' as const };
      if (cron === null) {
        rows.push({ ...common, ...onCall, filters: filters ?? null });
        continue;
      }
      const zone = timezone === undefined ? await usersZone(userId) : await zoneFor(tx, tenant, { timezone, userId });
      rows.push({ ...common, kind: 'schedule', every: when.every ?? null, cron, filters: null, ...zone });
    }
  }
  return rows;
}

const onCall = { kind: 'trigger', every: null, cron: null, timezone: null, own_timezone: false } as const;

function cronOf({ every, cron }: Pick<FileRoutine, 'every' | 'cron'>): string | null {
  if (every !== undefined) return readEvery(every, 'every');
  return cron === undefined ? null : readCron(cron, 'cron');
}

const keyOf = ({ name, user_id }: Pick<RoutineRow, 'name' | 'user_id'>) => JSON.stringify([name, user_id]);

const placeOf = ({ id, org_id }: DeploymentRow, mode: Mode) => ({
  id: newId('rtn'),
  org_id,
  mode,
  deployment_id: id,
  managed_by: 'file' as const,
});

type Changed = Map<string, { ids: string[]; changes: RoutineChanges }>;

/** Routines of one entry change alike, so one statement updates all of its users, up to a hundred. */
function collect(changed: Changed, { id }: RoutineRow, changes: RoutineChanges): void {
  if (Object.keys(changes).length === 0) return;
  const key = JSON.stringify(changes);
  const alike = changed.get(key);
  if (alike) alike.ids.push(id);
  else changed.set(key, { ids: [id], changes });
}
