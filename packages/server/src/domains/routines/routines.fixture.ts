import { randomBytes } from 'node:crypto';
import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import type { Mode } from '@vestra/contract/route';
import { and, eq, sql } from 'drizzle-orm';
import pino from 'pino';
import { type Answer, assertContract } from '../../../../../tests/support/server.ts';
import { createTestDatabase } from '../../../../../tests/support/test-database.ts';
import type { Tenant } from '../../caller.ts';
import { closeDatabase, type Database, openDatabase } from '../../db/pool.ts';
import { transaction } from '../../db/transaction.ts';
import { createApp } from '../../http/app.ts';
import { createCursors } from '../../http/cursor.ts';
import { createIdempotency } from '../../http/idempotency.ts';
import { createRateLimiter } from '../../http/rate-limit.ts';
import type { ApplyPorts } from '../apply/ports.ts';
import { auditEntries } from '../audit/tables.ts';
import type { DeploymentRow } from '../deployments/api.ts';
import { newDeployment, newOrg } from '../deployments/test-deployments.ts';
import { createKeyIdentity } from '../keys/api.ts';
import { type OrgRow, orgs } from '../orgs/api.ts';
import { readSchedule, replaceFileManaged } from './api.ts';
import type { RoutinePorts } from './ports.ts';
import { routineRoutes } from './routes.ts';
import { type RoutineRow, routines } from './tables.ts';

export const publicUrl = 'https://agents.example.com';

type User = { timezone: string | null; default_deployment: string | null; isDisabled: boolean };
type Call = { key: string; body?: unknown; headers?: Record<string, string> };
type RoutinePort = ApplyPorts['routines'];

/** The routes on a database of their own, called without a socket; every answer is held against the contract. */
export async function startRoutines() {
  const database = await createTestDatabase();
  const db = await openDatabase({ connectionString: database.connectionString });
  const users = new Map<string, User>();
  const ports = portsOn(users);
  const app = appOn(db, ports);
  const file: RoutinePort = {
    replaceFileManaged: (tx, change) => replaceFileManaged(tx, ports, change),
    readSchedule,
  };

  async function call(method: string, path: string, { key, body, headers = {} }: Call): Promise<Answer> {
    const response = await app.request(`http://localhost:4600${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const answer = { status: response.status, headers: response.headers, body: JSON.parse(text), text };
    assertContract(method, path, answer);
    return answer;
  }

  return {
    db,
    call,
    file,
    /** With a default deployment, and a key of each mode that may run. */
    async newOrg(settings: Partial<OrgRow> = {}) {
      const org = await newOrg(db);
      const deployment = await newDeployment(db, org.id);
      await db
        .update(orgs)
        .set({ default_deployment: deployment.id, ...settings })
        .where(eq(orgs.id, org.id));
      const [testKey, liveKey] = [await org.newKey('test', ['runtime']), await org.newKey('live', ['runtime'])];
      return { id: org.id, deployment, testKey, liveKey };
    },
    newDeployment: (orgId: string, slug?: string) => newDeployment(db, orgId, slug === undefined ? {} : { slug }),
    setUser: (tenant: Tenant, userId: string, user: Partial<User>) =>
      users.set(userKey(tenant, userId), { timezone: null, default_deployment: null, isDisabled: false, ...user }),
    async newConversation({ orgId, mode }: Tenant, userId: string | null) {
      const id = newId('conv');
      await db.execute(
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
    async stop() {
      await closeDatabase(db);
      await database.drop();
    },
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
    const { rows } = await tx.execute<{ user_id: string | null }>(
      sql`SELECT user_id FROM conversations WHERE org_id = ${orgId} AND mode = ${mode} AND id = ${id} FOR KEY SHARE`,
    );
    return rows[0];
  },
});

function appOn(db: Database, ports: RoutinePorts) {
  const notUsed = () => Promise.reject(new Error('Keys alone are used here.'));
  return createApp({
    path: {
      db,
      identities: { ofKey: createKeyIdentity(db).ofKey, ofSession: notUsed, ofConsole: notUsed },
      idempotency: createIdempotency(db, { seal: notUsed, open: notUsed }),
      rateLimiter: createRateLimiter(db),
      cursors: createCursors(randomBytes(32)),
      requestsPerMinute: 1_000_000,
      keyUsed: () => {},
    },
    handlers: { routines: routineRoutes({ db, publicUrl, ...ports }) },
    log: pino({ level: 'silent' }),
    pages: () => {},
    addressOf: () => '127.0.0.1',
  });
}
