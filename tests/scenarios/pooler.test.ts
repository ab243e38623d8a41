import { createLog } from '@vestra/server/main/log';
import { openNotifyListener } from '@vestra/server/platform/db/notify-listener';
import { closeDatabase, openDatabase } from '@vestra/server/platform/db/pool';
import { rowsOf } from '@vestra/server/platform/db/query';
import { sql } from '@vestra/server/platform/db/sql';
import { integer } from '@vestra/server/platform/db/table';
import { transaction } from '@vestra/server/platform/db/transaction';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startAgentServer } from '../support/agent.ts';
import { hasPgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { startTestServer } from '../support/server.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

type Bouncer = Awaited<ReturnType<typeof startPgBouncer>>;

describe.skipIf(!hasPgBouncer)('behind PgBouncer', () => {
  let database: TestDatabase;
  let other: TestDatabase;
  let pooled: Bouncer;
  let direct: string;
  beforeAll(async () => {
    [database, other] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    direct = database.connectionString;
    pooled = await startPgBouncer(direct, 'transaction');
  });
  afterAll(async () => {
    await pooled.stop();
    await database.drop();
    await other.drop();
  });

  const open = (connectionString: string, directUrl: string | null) =>
    openDatabase({ connectionString, pooler: { kind: null, directUrl } });

  it('in transaction mode the start asks for DATABASE_DIRECT_URL, and for one that is the same database [MANY-011]', async () => {
    await expect(open(pooled.connectionString, null)).rejects.toThrow(
      /through a connection pooler in transaction mode.*set DATABASE_DIRECT_URL/,
    );
    await expect(open(pooled.connectionString, pooled.connectionString)).rejects.toThrow(/leads through .* too/);
    await expect(open(pooled.connectionString, other.connectionString)).rejects.toThrow(/must name the same database/);
  });

  it.each([1, 4])('in transaction mode with %d sessions prepared statements work [MANY-011]', async (size) => {
    const bouncer = await startPgBouncer(direct, 'transaction', { default_pool_size: size });
    const db = await open(bouncer.connectionString, direct);
    const numbers = await Promise.all(
      Array.from({ length: 40 }, (_, at) =>
        transaction(db, async (tx) => {
          await rowsOf(tx, { n: integer() }, sql`SELECT ${at}::int AS n`);
          return (await rowsOf(tx, { n: integer() }, sql`SELECT ${at}::int + 1 AS n`))[0]?.n;
        }),
      ),
    );
    expect(numbers).toEqual(Array.from({ length: 40 }, (_, at) => at + 1));
    await closeDatabase(db);
    await bouncer.stop();
  });

  it('in session mode, and without a pooler, no setting is needed and no feature is lost [MANY-011]', async () => {
    const bouncer = await startPgBouncer(direct, 'session', { default_pool_size: 20 });
    for (const connectionString of [bouncer.connectionString, direct]) {
      const db = await open(connectionString, null);
      expect(db.directUrl).toBeUndefined();
      await closeDatabase(db);
    }
    const line = await openNotifyListener({ connectionString: bouncer.connectionString, log: createLog('silent') });
    await line.close();
    await bouncer.stop();
  });

  it('two servers talk, follow, stop and revoke as without a pooler [MANY-011]', async () => {
    const env = { DATABASE_URL: pooled.connectionString, DATABASE_DIRECT_URL: direct };
    const one = await startAgentServer({ env });
    const two = await startTestServer({ beside: one, env: { ...one.env, ...env } });
    const created = await one.apply({ name: 'desk', memory: 'none' });
    expect(created.status).toBe(200);
    const { body: key } = await one.call('POST', '/v1/keys', { body: { name: 'k', scopes: ['all'] } });
    const { body: talk } = await one.call('POST', '/v1/conversations', { body: { deployment: 'desk' } });
    const stream = await one.stream('GET', `/v1/conversations/${talk.id}/events`, { key: key.key });
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        two.call('POST', '/v1/conversations', {
          body: { deployment: 'desk', message: `Hello ${at % 6}` },
          headers: { prefer: 'wait=60', 'idempotency-key': `same-${at % 6}` },
        }),
      ),
    );
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(6);
    await two.call('POST', `/v1/conversations/${talk.id}/messages`, { body: { message: 'Hi' } });
    await stream.waitFor(({ type }) => type === 'turn.settled');
    expect((await two.call('DELETE', `/v1/keys/${key.id}`)).status).toBe(200);
    await stream.events;
    await two.stop();
    await one.stop();
  });
});
