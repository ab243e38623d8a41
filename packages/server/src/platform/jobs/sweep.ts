import type { Logger } from 'pino';
import { repeat } from '../async/background-loop.ts';
import type { Database, Transaction } from '../db/pool.ts';
import { one, run } from '../db/query.ts';
import { sql } from '../db/sql.ts';
import { boolean } from '../db/table.ts';
import { transaction } from '../db/transaction.ts';
import { isDatabaseUnreachable } from '../db/unreachable.ts';
import type { JobCatalog, catalog as serverCatalog } from './catalog.ts';
import type { Jobs } from './queue.ts';

/** Finds rows of a module that a dead process left, or that need a job and have none. */
export type SweepSource<Catalog extends JobCatalog = typeof serverCatalog> = {
  name: string;
  /**
   * Finds at most `limit` rows, sends their jobs or deletes them in this transaction, and returns the count. It must skip
   * rows that have a job already (`hasJob`, `takeExpiredRuns`).
   */
  find(work: { tx: Transaction; jobs: Jobs<Catalog>; limit: number }): Promise<number>;
};

type Dependencies<Catalog extends JobCatalog> = {
  jobs: Jobs<Catalog>;
  db: Database;
  sources: SweepSource<Catalog>[];
  log: Logger;
  /** Reports the count of each source, including 0. */
  found?: (source: string, count: number) => void;
};

const pageSize = 500;

/** Sweeps at once and then every `everyMs` until stopped. */
export function startSweeping<Catalog extends JobCatalog>(
  dependencies: Dependencies<Catalog> & { everyMs?: number },
): { stop(): Promise<void> } {
  let wasUnreachable = false;
  const look = async () => {
    if (wasUnreachable) wasUnreachable = !(await isReachable(dependencies.db));
    // During an outage no process could renew its leases. Live owners renew them before the next sweep.
    else wasUnreachable = await sweep(dependencies);
  };
  return repeat(dependencies.everyMs ?? 15_000, look, { firstAfterMs: 0 });
}

const isReachable = (db: Database) =>
  run(db, sql`SELECT`).then(
    () => true,
    () => false,
  );

/**
 * Sends a job for each row that needs one and has none. A failing source does not block the others. Returns true if the
 * database was unreachable.
 */
export async function sweep<Catalog extends JobCatalog>(dependencies: Dependencies<Catalog>): Promise<boolean> {
  const { sources, log } = dependencies;
  let isUnreachable = false;
  for (const source of sources) {
    try {
      const found = await sweepSource(dependencies, source);
      dependencies.found?.(source.name, found);
      if (found > 0) log.warn({ source: source.name, found }, 'found rows that no process was working on');
    } catch (error) {
      isUnreachable ||= isDatabaseUnreachable(error);
      log.error({ err: error, source: source.name }, 'could not search for rows without a job');
    }
  }
  return isUnreachable;
}

async function sweepSource<Catalog extends JobCatalog>(
  { jobs, db }: Dependencies<Catalog>,
  source: SweepSource<Catalog>,
): Promise<number> {
  let total = 0;
  for (;;) {
    const found = await transaction(db, async (tx) => {
      if (!(await lockSource(tx, source.name))) return 0;
      return source.find({ tx, jobs, limit: pageSize });
    });
    total += found;
    if (found < pageSize) return total;
  }
}

/**
 * Prevents duplicate jobs: two processes that sweep at once would find the same rows. The second one skips the source, and
 * a later one sees the jobs of the first.
 */
async function lockSource(tx: Transaction, source: string): Promise<boolean> {
  const lock = sql`SELECT pg_try_advisory_xact_lock(hashtextextended(${`vestra sweep ${source}`}, 0)) AS alone`;
  return (await one(tx, { alone: boolean() }, lock)).alone;
}
