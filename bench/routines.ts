import { newId } from '@vestra/contract/ids';
import { closeDatabase, type Database, openDatabase } from '@vestra/server/db/pool';
import { run } from '@vestra/server/db/query';
import { sql } from '@vestra/server/db/sql';
import { nextRun } from '@vestra/server/domains/routines/schedule';
import { dueRoutines } from '@vestra/server/domains/routines/store';

/** Milliseconds, p50: a look for what is due where nothing is and where a page is, and working out a next run. */
export type RoutineFigures = { idleLookMs: number; dueLookMs: number; nextRunMs: number };

const routineCount = 100_000;
const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe', 'Africa/Casablanca'];

/** Scheduling with 100,000 routines, of which none or a page is due. */
export async function measureRoutines(connectionString: string): Promise<RoutineFigures> {
  const db = await openDatabase({ connectionString, max: 2 });
  try {
    await fill(db);
    const now = new Date();
    const look = (at: Date) => p50(200, () => dueRoutines(db, { now: at, limit: 100, except: [] }));
    const idleLookMs = await look(now);
    const dueLookMs = await look(new Date(now.getTime() + 48 * 3_600_000));
    let asked = 0;
    const nextRunMs = await p50(2000, async () => {
      const minute = asked++ % 60;
      nextRun(`${minute} ${asked % 24} * * *`, zones[asked % zones.length] as string, now);
    });
    return { idleLookMs, dueLookMs, nextRunMs };
  } finally {
    await closeDatabase(db);
  }
}

/** Each at its own minute of the next day. */
async function fill(db: Database): Promise<void> {
  const orgId = newId('org');
  await run(db, sql`INSERT INTO orgs (id, name, wrapped_data_key) VALUES (${orgId}, 'Bench', '\\x00')`);
  await run(
    db,
    sql`
    INSERT INTO routines (id, org_id, mode, user_id, name, ask, kind, cron, timezone, next_run_at)
    SELECT 'rtn_' || lpad(n::text, 24, '0'), ${orgId}, 'live', 'user-' || n, 'Report', 'Send the report.', 'schedule',
      '0 8 * * *', 'UTC', now() + interval '1 hour' + n * interval '864 milliseconds'
    FROM generate_series(1, ${routineCount}::int) n`,
  );
  await run(db, sql`VACUUM ANALYZE routines`);
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
