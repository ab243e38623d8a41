import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { type Mode, modes } from '@vestra/contract/route';
import { startTestApp } from '../../../../../tests/support/app.ts';
import type { Tenant } from '../../caller.ts';
import { maybeOne, rowsOf, run, update } from '../../db/query.ts';
import { createRowCache } from '../../db/row-cache.ts';
import { sql } from '../../db/sql.ts';
import { columnsOf, jsonb, text } from '../../db/table.ts';
import { transaction } from '../../db/transaction.ts';
import type { ApplyPorts } from '../apply/ports.ts';
import type { DeploymentRow } from '../deployments/api.ts';
import { newDeployment } from '../deployments/deployments.fixture.ts';
import type { OrgSettings } from '../orgs/api.ts';
import { updateSettings } from '../orgs/store.ts';
import { readSchedule, replaceFileManaged } from './api.ts';
import type { RoutinePorts } from './ports.ts';
import { routineRoutes } from './routes.ts';
import { type RoutineRow, routines } from './tables.ts';

export const publicUrl = 'https://agents.example.com';

type User = { timezone: string | null; default_deployment: string | null; isDisabled: boolean };
const silent = { followers: { publish: () => {} }, seen: createRowCache<never>({ most: 1 }) as never, ring: () => {} };

type RoutinePort = ApplyPorts['routines'];

/** The routine routes with users that tests make up. */
export async function startRoutines() {
  const users = new Map<string, User>();
  const ports = portsOn(users);
  const app = await startTestApp(({ db }) => ({
    routines: routineRoutes({ db, publicUrl, announcer: silent, ...ports }),
  }));
  const { db } = app;
  const file: RoutinePort = {
    replaceFileManaged: (tx, change) => replaceFileManaged(tx, ports, change),
    readSchedule,
  };

  return {
    ...app,
    file,
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
    setUser: (tenant: Tenant, userId: string, user: Partial<User>) =>
      users.set(userKey(tenant, userId), { timezone: null, default_deployment: null, isDisabled: false, ...user }),
    async newConversation({ orgId, mode }: Tenant, userId: string | null) {
      const id = newId('conv');
      await run(
        db,
        sql`INSERT INTO conversations (id, org_id, mode, user_id) VALUES (${id}, ${orgId}, ${mode}, ${userId})`,
      );
      return id;
    },
    apply: (
      deployment: DeploymentRow,
      mode: Mode,
      declared: Parameters<RoutinePort['replaceFileManaged']>[1]['declared'],
    ) => transaction(db, (tx) => file.replaceFileManaged(tx, { deployment, mode, declared })),
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

const userKey = ({ orgId, mode }: Tenant, userId: string) => `${orgId} ${mode} ${userId}`;

const portsOn = (users: ReadonlyMap<string, User>): RoutinePorts => ({
  timezoneOfUser: async (_tx, tenant, userId) => users.get(userKey(tenant, userId))?.timezone ?? null,
  enterUser: async (_tx, tenant, userId) => {
    const user = users.get(userKey(tenant, userId));
    if (user?.isDisabled) throw fail('user_disabled');
    return { default_deployment: user?.default_deployment ?? null };
  },
  holdConversation: async (tx, { orgId, mode }, id) => {
    return maybeOne(
      tx,
      { user_id: text().nullable() },
      sql`SELECT user_id FROM conversations WHERE org_id = ${orgId} AND mode = ${mode} AND id = ${id} FOR KEY SHARE`,
    );
  },
});
