import { readFileSync } from 'node:fs';
import pg from 'pg';
import { measure } from '../load.ts';

/** Limits of PostgreSQL alone on this machine and disk. */
export type Walls = {
  /** Commits a second of one row each, every one on disk before it is answered. */
  commitsBy1: number;
  commitsBy32: number;
  connectionKb: number;
  deleteMs: number;
  deleteLogBytes: number;
  dropMs: number;
  dropLogBytes: number;
};

export async function measureWalls(connectionString: string, share: number): Promise<Walls> {
  const main = new pg.Client({ connectionString });
  await main.connect();
  const others = await Promise.all(
    Array.from({ length: 32 }, async () => {
      const client = new pg.Client({ connectionString });
      await client.connect();
      return client;
    }),
  );
  try {
    await main.query('CREATE TABLE wall (id bigserial PRIMARY KEY, note text)');
    const commitsBy = async (clients: pg.Client[]) => {
      const free = [...clients];
      const insert = async () => {
        const client = free.pop() as pg.Client;
        await client.query("INSERT INTO wall (note) VALUES ('x')");
        free.push(client);
      };
      return Math.round((await measure(clients.length, 4 * Math.max(share, 0.1), insert)).perSecond);
    };
    const commitsBy1 = await commitsBy(others.slice(0, 1));
    const commitsBy32 = await commitsBy(others);
    return { commitsBy1, commitsBy32, connectionKb: await connectionKb(others), ...(await removals(main, share)) };
  } finally {
    await main.query('DROP TABLE IF EXISTS wall, events_by_month');
    await Promise.all([main, ...others].map((client) => client.end()));
  }
}

/** Private memory of a connection, without shared pages. */
async function connectionKb(clients: pg.Client[]): Promise<number> {
  const sizes = await Promise.all(
    clients.map(async (client) => {
      const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      const text = readFileSync(`/proc/${rows[0]?.pid}/smaps_rollup`, 'utf8');
      const kb = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1]);
      return kb('Private_Dirty') + kb('Private_Clean');
    }),
  );
  return Math.round(sizes.reduce((sum, size) => sum + size, 0) / sizes.length);
}

/** The table of events, in one partition a month as their ids grow with time, and one month of it removed in both ways. */
async function removals(client: pg.Client, share: number) {
  const count = Math.ceil(100_000 * share);
  await client.query(`
    CREATE TABLE events_by_month (LIKE events INCLUDING DEFAULTS, PRIMARY KEY (org_id, mode, id)) PARTITION BY RANGE (id);
    CREATE TABLE events_january PARTITION OF events_by_month FOR VALUES FROM ('evt_0') TO ('evt_1');
    CREATE TABLE events_february PARTITION OF events_by_month FOR VALUES FROM ('evt_1') TO ('evt_2');
    CREATE INDEX ON events_by_month (org_id, mode, type, id DESC);
    CREATE INDEX ON events_by_month (created_at)`);
  for (const month of [0, 1]) {
    await client.query(
      `INSERT INTO events_by_month (id, org_id, mode, type, data)
       SELECT 'evt_' || $1::text || lpad(n::text, 12, '0'), 'org_' || n % 1000, 'live', 'turn.settled',
         jsonb_build_object('turn_id', md5(n::text), 'reply', repeat('word ', 40))
       FROM generate_series(1, $2::int) AS n`,
      [month, count],
    );
  }
  await client.query('VACUUM ANALYZE events_by_month');
  await client.query('CHECKPOINT');
  const timed = async (statements: string) => {
    const before = await logPosition(client);
    const startedAt = performance.now();
    await client.query(statements);
    const ms = Number((performance.now() - startedAt).toFixed(1));
    return { ms, logBytes: (await logPosition(client)) - before };
  };
  // The space of deleted rows is given back by VACUUM alone: it belongs to the removal.
  const deleted = await timed(`DELETE FROM events_by_month WHERE id < 'evt_1'`);
  const vacuumed = await timed('VACUUM events_january');
  const dropped = await timed(
    'ALTER TABLE events_by_month DETACH PARTITION events_february; DROP TABLE events_february',
  );
  return {
    deleteMs: Number((deleted.ms + vacuumed.ms).toFixed(1)),
    deleteLogBytes: deleted.logBytes + vacuumed.logBytes,
    dropMs: dropped.ms,
    dropLogBytes: dropped.logBytes,
  };
}

async function logPosition(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ at: string }>(`SELECT pg_current_wal_insert_lsn() - '0/0' AS at`);
  return Number(rows[0]?.at);
}
