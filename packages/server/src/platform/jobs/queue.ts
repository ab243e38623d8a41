import { randomBytes } from 'node:crypto';
import type { NotifyListener } from '../db/notify-listener.ts';
import type { Statement } from '../db/pipeline.ts';
import type { Database, Executor } from '../db/pool.ts';
import { prune, rowsStatement, run, runStatement, sendLater } from '../db/query.ts';
import { retryAtStart } from '../db/retry-through-failover.ts';
import { type Sql, sql } from '../db/sql.ts';
import { float, integer, text } from '../db/table.ts';
import type { JobCatalog, JobName, JobRow, JobSender, catalog as serverCatalog } from './catalog.ts';
import { type Claims, createClaims, idOfRecurring, jobsChannel, shareId } from './claims.ts';

export type Jobs<Catalog extends JobCatalog = typeof serverCatalog> = JobSender<Catalog> & {
  start(): Promise<void>;
  /** For the worker. */
  readonly catalog: Catalog;
  readonly settings: JobsSettings;
  readonly claims: Claims;
  /** Calls back with the queue that may have due jobs, or without a name if any of them may. */
  onWake(wake: (name?: string) => void): void;
};

/** SQL: whether the row has a pending or running job. In the statement that reads the row: a job may end before the next one. */
export const hasJob = <Catalog extends JobCatalog = typeof serverCatalog>(name: JobName<Catalog>, key: Sql): Sql =>
  sql`EXISTS (SELECT FROM jobs WHERE name = ${name} AND key = ${key} AND given_up_at IS NULL)`;

export type JobsSettings = {
  /** A job is due again if its worker has not renewed it for this long. */
  leaseSeconds: number;
  /** How often a worker polls for jobs without a notification: delayed, retried, or left by a dead worker. */
  dueSeconds: number;
  /** A process without a worker needs no notifications. */
  listen: boolean;
};

// Another worker continues the job of a dead one within 10 + 3 seconds.
const defaults: JobsSettings = { leaseSeconds: 10, dueSeconds: 3, listen: true };

export function createJobs<Catalog extends JobCatalog>(dependencies: {
  db: Database;
  line: NotifyListener;
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
      // One row for the whole installation. The first process creates it.
      await retryAtStart(() =>
        run(
          db,
          sql`INSERT INTO jobs (id, name, payload) SELECT ${idOfRecurring(sql`name`)}, name, '{}' FROM unnest(${recurring}::text[]) AS name
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

    onWake(listener) {
      listeners.push(listener);
    },
  };

  async function insert(executor: Executor, name: string, payloads: unknown[]): Promise<string[]> {
    const row = rowOf(name);
    if (row.policy === 'recurring') throw new Error(`The job ${name} is recurring and cannot be sent.`);
    const sent = payloads.map((given) => {
      const payload = row.payload.parse(given);
      const share = row.share ? shareId(row.share.of(payload)) : '';
      return { id: newJobId(), key: row.key?.(payload) ?? null, share, payload };
    });
    if (sent.length === 0) return [];
    await sendLater(executor, [
      runStatement(sql`WITH sent AS (
          INSERT INTO jobs (id, name, key, share, payload)
          SELECT id, ${name}, key, share, payload
          FROM json_to_recordset(${sql.json(sent)}) AS sent (id uuid, key text, share text, payload jsonb)
        )
        SELECT pg_notify(${jobsChannel}, ${name})`),
    ]);
    return sent.map(({ id }) => id);
  }

  function rowOf(name: string): JobRow {
    const row = catalog[name];
    if (!row) throw new Error(`The catalog has no job ${name}.`);
    return row;
  }
}

/** Deletes jobs that were given up, which stay for a while for diagnosis. Returns false if none are left. */
export const pruneGivenUpJobs = (db: Database, before: Date, limit: number): Promise<boolean> =>
  prune(db, sql.raw('jobs'), sql`given_up_at < ${before}`, limit);

let lastTime = 0;
let idsThisMillisecond = 0;

/**
 * A UUID of version 7. Jobs of one transaction share their creation time and are claimed in the order of their ids. Ids of
 * one process therefore sort in the order of creation, also within a millisecond.
 */
export function newJobId(now: number = Date.now()): string {
  if (now > lastTime) {
    lastTime = now;
    idsThisMillisecond = 0;
  } else if (idsThisMillisecond === maxPerMillisecond) {
    lastTime++;
    idsThisMillisecond = 0;
  } else {
    idsThisMillisecond++;
  }
  const time = lastTime.toString(16).padStart(12, '0');
  const counted = idsThisMillisecond.toString(16).padStart(3, '0');
  const random = randomBytes(8);
  random[0] = ((random[0] as number) & 0x3f) | 0x80;
  const rest = random.toString('hex');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${counted}-${rest.slice(0, 4)}-${rest.slice(4)}`;
}

const maxPerMillisecond = 0xfff;

/** The number of due jobs in a queue, up to the limit, and the age of the oldest. */
export type Backlog = { queue: string; waiting: number; oldest_seconds: number };

/** A higher count tells an alarm nothing new, and counting costs more the longer the queue is. */
const maxCounted = 10_000;
const maxUsers = 500;

/**
 * Counts the due jobs of each queue. The index groups the jobs of one user and sorts them by due time, so one index skip
 * per user finds the oldest.
 */
export const backlogStatement = (queues: readonly string[]): Statement<Backlog[]> =>
  rowsStatement(
    { queue: text(), waiting: integer(), oldest_seconds: float() },
    sql`SELECT queue, counted.waiting, greatest(0, extract(epoch FROM now() - oldest.due_at))::float8 AS oldest_seconds
      FROM unnest(${queues}::text[]) AS queue (queue)
      CROSS JOIN LATERAL (
        SELECT count(*)::int AS waiting FROM (
          SELECT FROM jobs WHERE name = queue.queue AND due_at <= now() LIMIT ${maxCounted}) AS due
      ) AS counted
      CROSS JOIN LATERAL (
        WITH RECURSIVE leaps (share, due_at) AS (
          (SELECT share, due_at FROM jobs WHERE name = queue.queue AND due_at <= now() ORDER BY share, due_at LIMIT 1)
          UNION ALL
          SELECT next.share, next.due_at FROM leaps CROSS JOIN LATERAL (
            SELECT share, due_at FROM jobs WHERE name = queue.queue AND jobs.share > leaps.share AND due_at <= now()
            ORDER BY share, due_at LIMIT 1) AS next
        )
        SELECT min(due_at) AS due_at FROM (SELECT due_at FROM leaps LIMIT ${maxUsers}) AS first
      ) AS oldest
      WHERE counted.waiting > 0`,
  );
