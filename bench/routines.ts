import { newId } from '@vestra/contract/ids';
import { nextRun } from '@vestra/server/automation/routines/schedule';
import { dueRoutines } from '@vestra/server/automation/routines/store';
import { closeDatabase, type Database, openDatabase } from '@vestra/server/platform/db/pool';
import { run } from '@vestra/server/platform/db/query';
import { sql } from '@vestra/server/platform/db/sql';

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

async function p50(times: number, work: () => Promise<unknown>): Promise<number> {
  const taken: number[] = [];
  for (let count = 0; count < times; count++) {
    const startedAt = performance.now();
    await work();
    taken.push(performance.now() - startedAt);
  }
  return taken.sort((a, b) => a - b)[Math.floor(times / 2)] as number;
}
