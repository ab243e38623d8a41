import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '@vestra/contract/ids';
import { nextRun } from '@vestra/server/automation/routines/schedule';
import { dueRoutines } from '@vestra/server/automation/routines/store';
import { startEmbeddedPostgres } from '@vestra/server/platform/db/embedded';
import { closeDatabase, type Database, openDatabase } from '@vestra/server/platform/db/pool';
import { run } from '@vestra/server/platform/db/query';
import { sql } from '@vestra/server/platform/db/sql';
import pg from 'pg';
import { startModelProcess } from './model-process.ts';
import type { Stage } from './report.ts';
import { callServer, startWithModel } from './vestra.ts';

/** Milliseconds, p50: a look for what is due where nothing is, where 100 are and where all are, and working out a next run. */
export type RoutineFigures = { idleLookMs: number; dueLookMs: number; allDueLookMs: number; nextRunMs: number };

const routineCount = 100_000;
const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe', 'Africa/Casablanca'];

const hourMs = 3_600_000;
const apartMs = 864;

/** Scheduling with 100,000 routines, of which none, a hundred or all are due. */
export async function measureRoutines(connectionString: string): Promise<RoutineFigures> {
  const db = await openDatabase({ connectionString, max: 2 });
  try {
    const now = new Date();
    const first = new Date(now.getTime() + hourMs);
    await fill(db, first);
    const look = (at: Date) => p50(200, () => dueRoutines(db, { now: at, limit: 100, except: [] }));
    const idleLookMs = await look(now);
    const dueLookMs = await look(new Date(first.getTime() + 99.5 * apartMs));
    const allDueLookMs = await look(new Date(first.getTime() + routineCount * apartMs));
    let asked = 0;
    const nextRunMs = await p50(2000, async () => {
      const minute = asked++ % 60;
      nextRun(`${minute} ${asked % 24} * * *`, zones[asked % zones.length] as string, now);
    });
    return { idleLookMs, dueLookMs, allDueLookMs, nextRunMs };
  } finally {
    await closeDatabase(db);
  }
}

/** Each at its own moment of a day. */
async function fill(db: Database, first: Date): Promise<void> {
  const orgId = newId('org');
  await run(db, sql`INSERT INTO orgs (id, name, wrapped_data_key) VALUES (${orgId}, 'Bench', '\\x00')`);
  await run(
    db,
    sql`
    INSERT INTO routines (id, org_id, mode, user_id, name, ask, kind, cron, timezone, next_run_at)
    SELECT 'rtn_' || lpad(n::text, 24, '0'), ${orgId}, 'live', 'user-' || n, 'Report', 'Send the report.', 'schedule',
      '0 8 * * *', 'UTC', ${first}::timestamptz + (n - 1) * ${apartMs}::int * interval '1 millisecond'
    FROM generate_series(1, ${routineCount}::int) n`,
  );
  await run(db, sql`VACUUM ANALYZE routines`);
}

/** How late runs began that were due over a minute or less, in milliseconds. */
export type DueRoutines = { due: number; seconds: number; ran: number; p50: number; p95: number; most: number };

/**
 * Routines of a running server, each of its own user: `due` of them at as many moments of the next minute, and all others
 * of 100,000 tomorrow. Each run is a whole turn with an instant model.
 */
export async function measureDueRoutines(stage: Stage): Promise<DueRoutines> {
  const { folder, share } = stage;
  const [due, others] = [6000, 94_000].map((count) => Math.round(count * share)) as [number, number];
  const gapMs = 10;
  const model = await startModelProcess();
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'due-routines-database'), log: () => {} });
  const client = new pg.Client({ connectionString: postgres.connectionString });
  await client.connect();
  const env = { DATABASE_URL: postgres.connectionString };
  const server = await startWithModel(join(folder, 'due-routines'), model.baseUrl, env);
  try {
    const { id } = (await callServer(server, 'GET', '/v1/deployments/bench')) as { id: string };
    // Later than the rows take to insert, and than the server's next look for due ones.
    const first = new Date(Date.now() + 30_000);
    await client.query(
      `INSERT INTO routines (id, org_id, mode, user_id, deployment_id, name, ask, kind, cron, timezone, next_run_at)
       SELECT 'rtn_' || lpad(n::text, 24, '0'), $1, 'test', 'user-' || n, $2, 'Report', 'Send the report.', 'schedule',
         '0 8 * * *', 'UTC', CASE WHEN n < $3::int THEN $4::timestamptz + n * $5::int * interval '1 millisecond' ELSE now() + interval '1 day' END
       FROM generate_series(0, $3::int + $6::int - 1) n`,
      [server.orgId, id, due, first, gapMs, others],
    );
    await client.query('VACUUM ANALYZE routines');
    const figures = async () => {
      const { rows } = await client.query<{ ran: string; late: number[] | null }>(
        `SELECT count(*) AS ran, percentile_disc(ARRAY[0.5, 0.95, 1]) WITHIN GROUP (ORDER BY
           extract(epoch FROM last_run_at - $1::timestamptz) * 1000 - substr(id, 5)::bigint * $2::int) AS late
         FROM routines WHERE last_run_at IS NOT NULL`,
        [first, gapMs],
      );
      const [p50 = Number.NaN, p95 = Number.NaN, most = Number.NaN] = (rows[0]?.late ?? []).map(Number);
      return { ran: Number(rows[0]?.ran), p50, p95, most };
    };
    const deadline = first.getTime() + due * gapMs + 180_000;
    let found = await figures();
    while (found.ran < due && Date.now() < deadline) {
      await sleep(1000);
      found = await figures();
    }
    return { due, seconds: (due * gapMs) / 1000, ...found };
  } finally {
    await client.end();
    await server.stop();
    await model.stop();
    await postgres.stop();
  }
}

async function p50(times: number, work: () => Promise<unknown>): Promise<number> {
  const taken: number[] = [];
  for (let count = 0; count < times; count++) {
    const startedAt = performance.now();
    await work();
    taken.push(performance.now() - startedAt);
  }
  return taken.sort((a, b) => a - b)[Math.floor(times / 2)] as number;
}
