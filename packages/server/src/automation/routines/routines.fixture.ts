import { newId } from '@vestra/contract/ids';
import { type Mode, modes } from '@vestra/contract/route';
import { startTestApp } from '../../../../../tests/support/app.ts';
import { updateSettings } from '../../account/orgs/store.ts';
import type { OrgSettings } from '../../account/tables.ts';
import { newDeployment } from '../../agents/deployments/deployments.fixture.ts';
import type { DeploymentRow } from '../../agents/deployments/tables.ts';
import type { Tenant } from '../../platform/caller.ts';
import { insertMany, maybeOne, rowsOf, run, update } from '../../platform/db/query.ts';
import { createRowCache } from '../../platform/db/row-cache.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf, jsonb, text } from '../../platform/db/table.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { type UserRow, users } from '../../users/tables.ts';
import { type FileRoutine, replaceFileRoutines } from './file-managed.ts';
import { routineRoutes } from './routes.ts';
import { type RoutineRow, routines } from './tables.ts';

export const publicUrl = 'https://agents.example.com';

const silent = {
  followers: { publish: () => {} },
  seen: createRowCache<never>({ most: 1 }) as never,
  notify: () => {},
};

export async function startRoutines() {
  const app = await startTestApp(({ db }) => ({
    routines: routineRoutes({ db, publicUrl, announcer: silent }),
  }));
  const { db } = app;

  return {
    ...app,
    /** With a default deployment, and a key of each mode that may run. */
    async newOrg(settings: Partial<OrgSettings> = {}) {
      const org = await app.newOrg(['runtime']);
      const deployment = await newDeployment(db, org.id);
      for (const mode of modes) {
        await updateSettings(db, { orgId: org.id, mode }, { default_deployment: deployment.id, ...settings });
      }
      return { id: org.id, deployment, testKey: org.testKey, liveKey: org.liveKey };
    },
    newDeployment: (orgId: string, slug?: string) => newDeployment(db, orgId, slug === undefined ? {} : { slug }),
    setUser: async ({ orgId, mode }: Tenant, id: string, user: Partial<UserRow>) => {
      const row = { timezone: null, default_deployment: null, status: 'active' as const, ...user };
      await insertMany(db, users, [{ org_id: orgId, mode, id, created_at: new Date(), ...row }], {
        onConflict: sql`(org_id, mode, id) DO UPDATE SET timezone = excluded.timezone, status = excluded.status,
          default_deployment = excluded.default_deployment`,
      });
    },
    async newConversation({ orgId, mode }: Tenant, userId: string | null) {
      const id = newId('conv');
      await run(
        db,
        sql`INSERT INTO conversations (id, org_id, mode, user_id) VALUES (${id}, ${orgId}, ${mode}, ${userId})`,
      );
      return id;
    },
    apply: (deployment: DeploymentRow, mode: Mode, declared: readonly FileRoutine[]) =>
      transaction(db, (tx) => replaceFileRoutines(tx, { deployment, mode, declared })),
    rowOf: async (routineId: string) => {
      const found = sql`SELECT ${columnsOf(routines)} FROM ${routines} WHERE id = ${routineId}`;
      return (await maybeOne(db, routines, found)) as RoutineRow;
    },
    setRow: (routineId: string, changes: Partial<RoutineRow>) => update(db, routines, changes, sql`id = ${routineId}`),
    auditOf: (routineId: string) =>
      rowsOf(
        db,
        { mode: text(), action: text(), actor_type: text(), details: jsonb<Record<string, unknown>>() },
        sql`
          SELECT mode, action, actor_type, details FROM audit_entries
          WHERE target_type = 'routine' AND target_id = ${routineId} ORDER BY id`,
      ),
  };
}

export type RoutineServer = Awaited<ReturnType<typeof startRoutines>>;
