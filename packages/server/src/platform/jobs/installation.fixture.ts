import pino, { type Logger } from 'pino';
import { createTestDatabase } from '../../../../../tests/support/test-database.ts';
import { type NotifyListener, openNotifyListener } from '../db/notify-listener.ts';
import { closeDatabase, type Database, openDatabase } from '../db/pool.ts';
import { run } from '../db/query.ts';
import { type Sql, sql } from '../db/sql.ts';
import type { JobCatalog } from './catalog.ts';
import { createJobs, type Jobs, type JobsSettings } from './queue.ts';
import { type JobHandlers, startWorker, type Worker } from './worker.ts';

/** Polls so rarely that jobs start only by notification. */
export const byNotificationOnly: Partial<JobsSettings> = { dueSeconds: 600 };

/** Detects a dead worker within seconds. */
export const quick: Partial<JobsSettings> = { leaseSeconds: 2, dueSeconds: 1 };

export type Installation = {
  db: Database;
  /** The rows of a statement, as `pg` reads them. */
  rows: (statement: Sql) => Promise<Record<string, unknown>[]>;
  connectionString: string;
  /** The log lines as objects. */
  logged: Record<string, unknown>[];
  log: Logger;
  /** Closed together with the installation. */
  jobs<Catalog extends JobCatalog>(catalog: Catalog, settings?: Partial<JobsSettings>): Promise<Jobs<Catalog>>;
  worker<Catalog extends JobCatalog>(jobs: Jobs<Catalog>, handlers: JobHandlers<Catalog>): Worker;
  close(): Promise<void>;
};

/** Opens a separate database with the tables of the server and one for the tests. */
export async function openInstallation(): Promise<Installation> {
  const { connectionString, drop } = await createTestDatabase();
  const db = await openDatabase({ connectionString, max: 10 });
  await run(db, sql`CREATE TABLE writes (run text NOT NULL, owner text NOT NULL)`);
  const logged: Record<string, unknown>[] = [];
  const log = pino({ level: 'debug' }, { write: (line) => void logged.push(JSON.parse(line)) });
  const workers: Worker[] = [];
  const lines: NotifyListener[] = [];

  return {
    db,
    rows: async ({ text, values }) => (await db.$client.query(text, [...values])).rows,
    connectionString,
    logged,
    log,
    async jobs(catalog, settings = byNotificationOnly) {
      const line = await openNotifyListener({ connectionString, log });
      const jobs = createJobs({ db, line, catalog, settings });
      lines.push(line);
      await jobs.start();
      return jobs;
    },
    worker(jobs, handlers) {
      const worker = startWorker({ jobs, handlers, log });
      workers.push(worker);
      return worker;
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.stop({ graceMs: 0 })));
      await Promise.all(lines.map((line) => line.close()));
      await closeDatabase(db);
      await drop();
    },
  };
}
