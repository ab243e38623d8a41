import { newId } from '@vestra/contract/ids';
import type { Mode } from '@vestra/contract/route';
import { and, eq, sql } from 'drizzle-orm';
import { startTestApp } from '../../../../../tests/support/app.ts';
import type { Tenant } from '../../caller.ts';
import { createRowCache } from '../../db/row-cache.ts';
import { transaction } from '../../db/transaction.ts';
import { auditEntries } from '../audit/tables.ts';
import type { DeploymentRow } from '../deployments/api.ts';
import { newDeployment } from '../deployments/deployments.fixture.ts';
import { type OrgSettings, orgSettings } from '../orgs/api.ts';
import { type UserRow, users } from '../users/api.ts';
import { type FileRoutine, replaceFileRoutines } from './api.ts';
import { routineRoutes } from './routes.ts';
import { type RoutineRow, routines } from './tables.ts';

export const publicUrl = 'https://agents.example.com';

const silent = { followers: { publish: () => {} }, seen: createRowCache<never>({ most: 1 }) as never, ring: () => {} };

/** The routine routes. */
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
      await db
        .update(orgSettings)
        .set({ default_deployment: deployment.id, ...settings })
        .where(eq(orgSettings.org_id, org.id));
      return { id: org.id, deployment, testKey: org.testKey, liveKey: org.liveKey };
    },
    newDeployment: (orgId: string, slug?: string) => newDeployment(db, orgId, slug === undefined ? {} : { slug }),
    setUser: async ({ orgId, mode }: Tenant, id: string, user: Partial<UserRow>) => {
      const row = { timezone: null, default_deployment: null, status: 'active' as const, ...user };
      await db
        .insert(users)
        .values({ org_id: orgId, mode, id, created_at: new Date(), ...row })
        .onConflictDoUpdate({ target: [users.org_id, users.mode, users.id], set: row });
    },
    async newConversation({ orgId, mode }: Tenant, userId: string | null) {
      const id = newId('conv');
      await db.execute(
        sql`INSERT INTO conversations (id, org_id, mode, user_id) VALUES (${id}, ${orgId}, ${mode}, ${userId})`,
      );
      return id;
    },
    apply: (deployment: DeploymentRow, mode: Mode, declared: readonly FileRoutine[]) =>
      transaction(db, (tx) => replaceFileRoutines(tx, { deployment, mode, declared })),
    rowOf: async (routineId: string) => {
      const [row] = await db.select().from(routines).where(eq(routines.id, routineId));
      return row as RoutineRow;
    },
    setRow: (routineId: string, changes: Partial<RoutineRow>) =>
      db.update(routines).set(changes).where(eq(routines.id, routineId)),
    auditOf: (routineId: string) =>
      db
        .select()
        .from(auditEntries)
        .where(and(eq(auditEntries.target_type, 'routine'), eq(auditEntries.target_id, routineId)))
        .orderBy(auditEntries.id),
  };
}

export type RoutineServer = Awaited<ReturnType<typeof startRoutines>>;
