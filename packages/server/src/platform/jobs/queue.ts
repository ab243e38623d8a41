import { untilThere } from '../db/away.ts';
import type { Line } from '../db/listen.ts';
import type { Database, Executor } from '../db/pool.ts';
import { prune } from '../db/prune.ts';
import { rowsOf, run } from '../db/query.ts';
import { sql } from '../db/sql.ts';
import { text } from '../db/table.ts';
import type { JobCatalog, JobName, JobRow, JobSender, catalog as serverCatalog } from './catalog.ts';
import { type Claims, createClaims, jobsChannel } from './claims.ts';
import { shareId } from './fair-claim.ts';
import { newJobId } from './job-id.ts';

export type Jobs<Catalog extends JobCatalog = typeof serverCatalog> = JobSender<Catalog> & {
  start(): Promise<void>;
  /** Of these keys, the ones that a job of this name waits or runs for. */
  keysWithJob(executor: Executor, name: JobName<Catalog>, keys: string[]): Promise<Set<string>>;
  /** For the worker. */
  readonly catalog: Catalog;
  readonly settings: JobsSettings;
  readonly claims: Claims;
  /** Calls back with the queue that may have something to take, or with nothing when that may be any of them. */
  onWake(wake: (name?: string) => void): void;
};

export type JobsSettings = {
  /** A job whose worker has been silent for this long is due again. */
  leaseSeconds: number;
  /** How often a worker looks for jobs of which nobody is notified: put off, tried again, left by a dead worker. */
  dueSeconds: number;
  /** A process without a worker needs no notifications. */
  listen: boolean;
};

// A dead worker's job goes on within 10 + 3 seconds.
const defaults: JobsSettings = { leaseSeconds: 10, dueSeconds: 3, listen: true };

export function createJobs<Catalog extends JobCatalog>(dependencies: {
  db: Database;
  line: Line;
  catalog: Catalog;
  settings?: Partial<JobsSettings>;
}): Jobs<Catalog> {
  const { db, line, catalog } = dependencies;
  const settings = { ...defaults, ...dependencies.settings };
  const listeners: ((name?: string) => void)[] = [];
  const wake = (name?: string) => {
    for (const listener of listeners) listener(name);
  };

  return {
    catalog,
    settings,
    claims: createClaims({ db, leaseSeconds: settings.leaseSeconds }),

    async start() {
      const recurring = Object.keys(catalog).filter((name) => rowOf(name).policy === 'recurring');
      // One for the whole installation, whoever makes it first.
      await untilThere(() =>
        run(
          db,
          sql`INSERT INTO jobs (id, name, payload) SELECT md5(name)::uuid, name, '{}' FROM unnest(${recurring}::text[]) AS name
            ON CONFLICT (id) DO NOTHING`,
        ),
      );
      if (settings.listen) await line.hear(jobsChannel, { onMessage: wake, onConnect: () => wake() });
    },

    async send(executor, name, payload) {
      const [id] = await insert(executor, name, [payload]);
      return id as string;
    },

    sendMany: insert,

    async keysWithJob(executor, name, keys) {
      const rows = await rowsOf(
        executor,
        { key: text() },
        sql`SELECT DISTINCT key FROM jobs WHERE name = ${name} AND key = ANY(${keys}::text[]) AND given_up_at IS NULL`,
      );
      return new Set(rows.map(({ key }) => key));
    },

    onWake(listener) {
      listeners.push(listener);
    },
  };

  async function insert(executor: Executor, name: string, payloads: unknown[]): Promise<string[]> {
    const row = rowOf(name);
    if (row.policy === 'recurring') throw new Error(`The job ${name} recurs by itself and is not sent.`);
    const sent = payloads.map((given) => {
      const payload = row.payload.parse(given);
      const share = row.share ? shareId(row.share.of(payload)) : '';
      return { id: newJobId(), key: row.key?.(payload) ?? null, share, payload };
    });
    if (sent.length === 0) return [];
    await run(
      executor,
      sql`WITH sent AS (
          INSERT INTO jobs (id, name, key, share, payload)
          SELECT id, ${name}, key, share, payload
          FROM json_to_recordset(${sql.json(sent)}) AS sent (id uuid, key text, share text, payload jsonb)
        )
        SELECT pg_notify(${jobsChannel}, ${name})`,
    );
    return sent.map(({ id }) => id);
  }

  function rowOf(name: string): JobRow {
    const row = catalog[name];
    if (!row) throw new Error(`The catalogue has no job ${name}.`);
    return row;
  }
}

/** Jobs that nobody tries any more stay for a while as evidence. False: none was left. */
export const pruneGivenUpJobs = (db: Database, before: Date, limit: number): Promise<boolean> =>
  prune(db, sql.raw('jobs'), sql`given_up_at < ${before}`, limit);
