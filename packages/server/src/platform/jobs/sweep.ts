import type { Logger } from 'pino';
import { isDatabaseAway } from '../db/away.ts';
import type { Database, Transaction } from '../db/pool.ts';
import { one, run } from '../db/query.ts';
import { sql } from '../db/sql.ts';
import { boolean } from '../db/table.ts';
import { transaction } from '../db/transaction.ts';
import type { JobCatalog, catalog as serverCatalog } from './catalog.ts';
import type { Jobs } from './queue.ts';
import { repeat } from './repeat.ts';

/** Where a domain's work can be found that has no job. */
export type SweepSource<Catalog extends JobCatalog = typeof serverCatalog> = {
  name: string;
  /**
   * Finds at most `limit` such rows, sends their jobs in this transaction, and returns how many. It must not find them
   * again once their jobs are there (`jobs.keysWithJob`, `takeExpiredRuns`).
   */
  find(work: { tx: Transaction; jobs: Jobs<Catalog>; limit: number }): Promise<number>;
};

type Dependencies<Catalog extends JobCatalog> = {
  jobs: Jobs<Catalog>;
  db: Database;
  sources: SweepSource<Catalog>[];
  log: Logger;
  /** Told of what was found, be it nothing. */
  found?: (source: string, count: number) => void;
};

const pageSize = 500;

/** Sweeps at once, and then again every `everyMs` until stopped. */
export function startSweeping<Catalog extends JobCatalog>(
  dependencies: Dependencies<Catalog> & { everyMs?: number },
): { stop(): Promise<void> } {
  let wasAway = false;
  const look = async () => {
    if (wasAway) wasAway = !(await answers(dependencies.db));
    // While the database was away nobody could renew: owners that are alive do so before the next sweep.
    else wasAway = await sweep(dependencies);
  };
  return repeat(dependencies.everyMs ?? 15_000, look, { firstAfterMs: 0 });
}

const answers = (db: Database) =>
  run(db, sql`SELECT`).then(
    () => true,
    () => false,
  );

/**
 * Sends a job for all work that has none. What one source does wrong holds up no other. True where the database was away
 * meanwhile.
 */
export async function sweep<Catalog extends JobCatalog>(dependencies: Dependencies<Catalog>): Promise<boolean> {
  const { sources, log } = dependencies;
  let isAway = false;
  for (const source of sources) {
    try {
      const found = await sweepSource(dependencies, source);
      dependencies.found?.(source.name, found);
      if (found > 0) log.warn({ source: source.name, found }, 'work without a job was found and sent');
    } catch (error) {
      isAway ||= isDatabaseAway(error);
      log.error({ err: error, source: source.name }, 'work without a job could not be looked for');
    }
  }
  return isAway;
}

async function sweepSource<Catalog extends JobCatalog>(
  { jobs, db }: Dependencies<Catalog>,
  source: SweepSource<Catalog>,
): Promise<number> {
  let total = 0;
  for (;;) {
    const found = await transaction(db, async (tx) => {
      if (!(await isAlone(tx, source.name))) return 0;
      return source.find({ tx, jobs, limit: pageSize });
    });
    total += found;
    if (found < pageSize) return total;
  }
}

/**
 * Two processes that sweep at once would each find the same rows and send twice: the second leaves the source alone, and
 * one that comes after sees the jobs of the first.
 */
async function isAlone(tx: Transaction, source: string): Promise<boolean> {
  const lock = sql`SELECT pg_try_advisory_xact_lock(hashtextextended(${`vestra sweep ${source}`}, 0)) AS alone`;
  return (await one(tx, { alone: boolean() }, lock)).alone;
}
