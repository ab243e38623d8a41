import { sql } from 'drizzle-orm';
import { fromDrizzle, type JobInsert, PgBoss } from 'pg-boss';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Line } from '../db/listen.ts';
import type { Database, Executor } from '../db/pool.ts';
import { StartFailure } from '../db/start-failure.ts';
import type { JobCatalog, JobName, JobRow, JobSender, catalog as serverCatalog } from './catalog.ts';
import { type Claims, createClaims, type Envelope } from './claims.ts';
import { openConnection } from './connection.ts';
import { shareId } from './fair-claim.ts';
import { newJobId } from './job-id.ts';

export type Jobs<Catalog extends JobCatalog = typeof serverCatalog> = JobSender<Catalog> & {
  start(): Promise<void>;
  /** After the worker has stopped. */
  stop(): Promise<void>;
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
  /** A job whose worker has been silent for this long is given to another. pg-boss takes 10 or more for a queue. */
  heartbeatSeconds: number;
  /** How often silent workers are looked for, by one process for all. */
  superviseSeconds: number;
  /** How often a worker looks for jobs of which nobody is notified: put off, tried again, taken from a dead worker. */
  dueSeconds: number;
  /** Connections for taking and settling jobs; a job is sent on the sender's own. */
  connections: number;
  /** A process without a worker needs no notifications. */
  listen: boolean;
};

// A dead worker's job goes on within 10 + 5 + 3 seconds.
const defaults: JobsSettings = {
  heartbeatSeconds: 10,
  superviseSeconds: 5,
  dueSeconds: 3,
  connections: 4,
  listen: true,
};

const schema = 'jobs';
const day = 86_400;

export function createJobs<Catalog extends JobCatalog>(dependencies: {
  db: Database;
  connectionString: string;
  line: Line;
  catalog: Catalog;
  log: Logger;
  settings?: Partial<JobsSettings>;
}): Jobs<Catalog> {
  const { db, connectionString, line, catalog, log } = dependencies;
  const settings = { ...defaults, ...dependencies.settings };
  const listeners: ((name?: string) => void)[] = [];
  const wake = (name?: string) => {
    for (const listener of listeners) listener(name);
  };
  const connection = openConnection({
    connectionString,
    line,
    max: settings.connections,
    onNotification: wake,
    onConnect: wake,
  });
  const boss = new PgBoss({
    db: connection,
    schema,
    useListenNotify: settings.listen,
    superviseIntervalSeconds: settings.superviseSeconds,
    monitorIntervalSeconds: settings.superviseSeconds,
    // Left alone, ended jobs are looked for once a day.
    maintenanceIntervalSeconds: 3600,
    // Features that are not used here and would query every few seconds.
    schedule: false,
    monitorVacuum: false,
    flowIntervalSeconds: day,
  });
  boss.on('error', (error) => log.error({ err: error }, 'the job queue reports an error'));
  boss.on('warning', ({ message, data }) => log.warn({ data }, message));

  return {
    catalog,
    settings,
    claims: createClaims({ db, boss, schema, insertion }),

    async start() {
      await boss.start();
      await prepareQueues({ boss, catalog, settings });
      for (const [name, row] of Object.entries(catalog)) {
        // A queue of a recurring job takes one: where another process has made it, nothing happens.
        if (row.policy === 'recurring') await boss.insert(name, [insertion(name, {})]);
      }
    },

    async stop() {
      await boss.stop({ graceful: false });
      await connection.close();
    },

    async send(executor, name, payload, options = {}) {
      const made = insertion(name, payload, options.startAfter);
      await insert(executor, name, [made]);
      return made.id;
    },

    async sendMany(executor, name, payloads, options = {}) {
      const made = payloads.map((payload) => insertion(name, payload, options.startAfter));
      if (made.length > 0) await insert(executor, name, made);
      return made.map(({ id }) => id);
    },

    async keysWithJob(executor, name, keys) {
      const { rows } = await executor.execute(sql`
        SELECT DISTINCT singleton_key AS key FROM ${sql.identifier(schema)}.job
        WHERE name = ${name} AND singleton_key = ANY(${sql.param(keys)}::text[]) AND state < 'completed'`);
      return new Set(
        z
          .array(z.object({ key: z.string() }))
          .parse(rows)
          .map(({ key }) => key),
      );
    },

    onWake(listener) {
      listeners.push(listener);
    },
  };

  async function insert(executor: Executor, name: string, made: JobInsert[]): Promise<void> {
    if (rowOf(name).policy === 'recurring') throw new Error(`The job ${name} recurs by itself and is not sent.`);
    await boss.insert(name, made, { db: fromDrizzle(executor, sql) });
  }

  function insertion(name: string, payload: unknown, startAfter?: Date | number): JobInsert & { id: string } {
    const row = rowOf(name);
    const checked = row.payload.parse(payload);
    const data: Envelope = { payload: checked, failures: 0 };
    return {
      id: newJobId(),
      data,
      startAfter,
      singletonKey: row.policy === 'recurring' ? undefined : row.key?.(checked),
      group: row.share && { id: shareId(row.share.of(checked)) },
      heartbeatSeconds: settings.heartbeatSeconds,
    };
  }

  function rowOf(name: string): JobRow {
    const row = catalog[name];
    if (!row) throw new Error(`The catalogue has no job ${name}.`);
    return row;
  }
}

async function prepareQueues(dependencies: {
  boss: PgBoss;
  catalog: JobCatalog;
  settings: JobsSettings;
}): Promise<void> {
  const { boss, catalog, settings } = dependencies;
  const known = new Map((await boss.getQueues()).map((queue) => [queue.name, queue]));
  for (const [name, row] of Object.entries(catalog)) {
    const policy = row.policy === 'recurring' ? 'exclusive' : row.policy;
    const wanted = queueOptions(row, settings);
    const queue = known.get(name);
    if (!queue) {
      // Does nothing where another process has made it since.
      await boss.createQueue(name, { policy, ...wanted });
    } else if (queue.policy !== policy) {
      throw new StartFailure(
        `The job queue "${name}" was made with the policy ${queue.policy}, this version needs ${policy}, and a queue keeps its policy: give the job another name in the catalogue.`,
      );
    } else if (Object.entries(wanted).some(([option, value]) => queue[option as keyof typeof queue] !== value)) {
      await boss.updateQueue(name, wanted);
    }
  }
}

function queueOptions(row: JobRow, settings: JobsSettings) {
  return {
    notify: true,
    expireInSeconds: row.expireInSeconds,
    // Jobs bring their own, which may be shorter; this is for one that came into the queue by another way.
    heartbeatSeconds: Math.max(10, settings.heartbeatSeconds),
    // Used up by workers that die, one for each: a job must never fail for that. Handlers that throw are counted apart.
    retryLimit: 1_000_000_000,
    retryDelay: 0,
    retryBackoff: false,
    // A waiting job is deleted after this.
    retentionSeconds: 365 * day,
    // Finished jobs are deleted at once: this is for those given up.
    deleteAfterSeconds: 14 * day,
    // A large batch is no cause for a warning every few seconds.
    warningQueueSize: 1_000_000,
  };
}
