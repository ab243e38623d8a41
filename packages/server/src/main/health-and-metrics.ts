import { statfs } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Hono } from 'hono';
import { dueDeliveriesStatement } from '../automation/webhooks/deliveries.ts';
import type { Computers } from '../computers/running-computer.ts';
import { storedBytesStatement } from '../engine/files/index.ts';
import type { Engine } from '../engine/index.ts';
import type { DatabaseHealth } from '../platform/db/database-health.ts';
import type { Statement } from '../platform/db/pipeline.ts';
import { pipelined, runStatement } from '../platform/db/query.ts';
import { sql } from '../platform/db/sql.ts';
import { transaction } from '../platform/db/transaction.ts';
import { type Handlers, Reply } from '../platform/http/handler.ts';
import { operatorRoutes } from '../platform/http/operator-routes.ts';
import { catalog } from '../platform/jobs/catalog.ts';
import { backlogStatement } from '../platform/jobs/queue.ts';
import type { Watchdog } from '../platform/watchdog/watchdog.ts';
import type { Kernel } from './kernel.ts';

export type OperatorParts = {
  health: () => Promise<Health>;
  /** Adds `/metrics` and `/health/*` to the API. */
  pages: (app: Hono) => void;
  /** An app that serves only these pages. */
  app: () => Hono;
  /** Reports ready from this call on. */
  started: () => void;
  /**
   * Reports not ready from this call on, and waits while the server still answers. Load balancers use that time to send
   * requests elsewhere.
   */
  drain: () => Promise<void>;
  isDraining: () => boolean;
};

/** Health and metrics of this process, for its operator. */
export function assembleOperator(
  kernel: Kernel,
  parts: { engine: Engine; computers: Computers; countBrowsers: () => number; watchdog: Watchdog },
): OperatorParts {
  const { config, lookAtDatabase, metrics } = kernel;
  let hasStarted = false;
  let isDraining = false;
  const whyNot = () => {
    if (isDraining || parts.engine.runner.isLeaving()) return 'The server is going down.';
    return hasStarted ? null : 'The server is starting.';
  };
  const health = createHealth({ look: lookAtDatabase, whyNot });
  addServerMetrics(kernel, { ...parts, health });
  const pages = operatorRoutes({ health, metrics: metrics.registry.write, metricsToken: config.metricsToken });
  return {
    health,
    pages,
    app() {
      const app = new Hono();
      pages(app);
      return app;
    },
    started() {
      hasStarted = true;
    },
    isDraining: () => isDraining,
    async drain() {
      isDraining = true;
      if (config.drainMs > 0) await sleep(config.drainMs);
    },
  };
}

type Check = { status: 'ok' | 'failing'; message: string | null };

type Checks = Record<'database' | 'migrations' | 'server', Check>;

/** Whether this process can serve, with the result of each check. */
export type Health = { isReady: boolean; checks: Checks; condition: DatabaseHealth };

/** Many probes ask for the health, so one result is reused for this long. */
const keptMs = 1_000;

function createHealth(options: {
  look: () => Promise<DatabaseHealth>;
  /** The reason why this process does not serve; null if it does. */
  whyNot: () => string | null;
  now?: () => number;
}): () => Promise<Health> {
  const { look, whyNot, now = performance.now.bind(performance) } = options;
  let kept: { until: number; condition: Promise<DatabaseHealth> } | null = null;
  return async () => {
    if (kept === null || now() >= kept.until) kept = { until: now() + keptMs, condition: look() };
    return healthOf(await kept.condition, whyNot());
  };
}

/** If the database does not answer, the migrations are unknown and not reported as failing. */
function healthOf(condition: DatabaseHealth, why: string | null): Health {
  const checks: Checks = {
    database: check(condition.isUp ? condition.readOnly : condition.reason),
    migrations: check(condition.isUp ? condition.behind : null),
    server: check(why),
  };
  return { isReady: Object.values(checks).every(({ status }) => status === 'ok'), checks, condition };
}

const check = (message: string | null): Check => ({ status: message === null ? 'ok' : 'failing', message });

/** `ok` means that the server can answer any request, including writes. */
export function healthRoutes({
  health,
  version,
}: {
  health: () => Promise<Health>;
  version: string;
}): Handlers<'health'> {
  return {
    get: async () => {
      const { isReady, checks } = await health();
      const status = isReady ? ('ok' as const) : ('failing' as const);
      return new Reply({ object: 'health' as const, status, version, checks }, { status: isReady ? 200 : 503 });
    },
  };
}

type Parts = {
  engine: Pick<Engine, 'runner' | 'money'>;
  computers: Pick<Computers, 'countAwake'>;
  countBrowsers: () => number;
  watchdog: Pick<Watchdog, 'blocks'>;
  health: () => Promise<Health>;
};

/** Limits the queries to the database, no matter how often somebody reads the metrics. */
const askEveryMs = 5_000;
const sizeEveryMs = 60_000;
const queues = Object.keys(catalog);

/** Adds the gauges that are read on demand. A scrape gets an answer even if the database does not. */
function addServerMetrics(
  { config, db, metrics }: Kernel,
  { engine, computers, countBrowsers, watchdog, health }: Parts,
): void {
  const { ask } = metrics.registry;
  const asked = <Result>(statement: () => Statement<Result>, everyMs: number) =>
    cachedFor(everyMs, async () => ((await health()).condition.isUp ? queryWithTimeout(db, statement()) : null));
  const backlog = asked(() => backlogStatement(queues), askEveryMs);
  const dueDeliveries = asked(dueDeliveriesStatement, askEveryMs);
  const storedBytes = asked(storedBytesStatement, sizeEveryMs);
  const disk = cachedFor(askEveryMs, () => statfs(config.dataDir).catch(() => null));
  const { $client: pool } = db;

  // Register these first: the gauges below take a connection themselves.
  ask({ name: 'vestra_database_connections', help: 'Connections of this process.', labels: ['state'] }, () => [
    { labels: { state: 'busy' }, value: pool.totalCount - pool.idleCount },
    { labels: { state: 'idle' }, value: pool.idleCount },
  ]);
  ask(
    { name: 'vestra_database_connections_limit', help: 'How many connections this process may have.' },
    () => pool.options.max,
  );
  ask(
    { name: 'vestra_database_connection_waits', help: 'Requests that wait for a connection of the pool.' },
    () => pool.waitingCount,
  );

  ask({ name: 'vestra_ready', help: '1 where this process would answer any request.' }, async () =>
    Number((await health()).isReady),
  );
  ask({ name: 'vestra_database_up', help: '1 if the database answers.' }, async () =>
    Number((await health()).condition.isUp),
  );
  ask({ name: 'vestra_database_writable', help: '1 if the database accepts writes.' }, async () => {
    const { condition } = await health();
    return Number(condition.isUp && condition.readOnly === null);
  });
  ask(
    { name: 'vestra_database_answer_seconds', help: 'How long the database took for the last small question.' },
    async () => {
      const { condition } = await health();
      return condition.isUp ? condition.seconds : null;
    },
  );
  ask({ name: 'vestra_database_embedded', help: '1 if the server started the database itself.' }, () =>
    Number(config.databaseUrl === null),
  );

  ask({ name: 'vestra_queue_jobs', help: 'Jobs that wait, up to 10000 of a queue.', labels: ['queue'] }, async () =>
    perQueue(await backlog(), ({ waiting }) => waiting),
  );
  ask(
    { name: 'vestra_queue_oldest_seconds', help: 'For how long the first job has waited.', labels: ['queue'] },
    async () => perQueue(await backlog(), ({ oldest_seconds }) => oldest_seconds),
  );
  ask(
    { name: 'vestra_webhook_deliveries_due', help: 'Attempts that are due now, up to 10000.' },
    async () => (await dueDeliveries())?.[0]?.due ?? null,
  );
  ask(
    { name: 'vestra_webhook_oldest_due_seconds', help: 'For how long the first of them has been due.' },
    async () => (await dueDeliveries())?.[0]?.oldest_seconds ?? null,
  );

  ask({ name: 'vestra_runs', help: 'Turns and tasks in progress in this process.', labels: ['state'] }, () => {
    const { running: inProgress, setAside } = engine.runner.counts();
    return [
      { labels: { state: 'running' }, value: inProgress },
      { labels: { state: 'waiting' }, value: setAside },
    ];
  });
  ask(
    {
      name: 'vestra_messages_waiting',
      help: 'Messages of orgs beyond their share that wait while the process is busy.',
    },
    () => engine.runner.waitingMessages(),
  );
  ask(
    { name: 'vestra_hold_waits', help: 'Calls of models that wait for money which others hold.' },
    () => engine.money.waiting().count,
  );
  ask(
    { name: 'vestra_hold_wait_oldest_seconds', help: 'For how long the first of them has waited.' },
    () => engine.money.waiting().longestMs / 1000,
  );
  ask(
    {
      name: 'vestra_event_loop_blocks_total',
      help: 'How often one piece of work blocked this process for longer than a second.',
      type: 'counter',
    },
    watchdog.blocks,
  );
  ask({ name: 'vestra_computers_awake', help: 'Computers of users awake in this process.' }, computers.countAwake);
  ask({ name: 'vestra_browsers_running', help: 'Browsers of users running in this process.' }, countBrowsers);

  ask({ name: 'vestra_data_free_bytes', help: 'Room left on the disk of the data folder.' }, async () => {
    const found = await disk();
    return found && found.bavail * found.bsize;
  });
  ask({ name: 'vestra_data_size_bytes', help: 'Size of the disk of the data folder.' }, async () => {
    const found = await disk();
    return found && found.blocks * found.bsize;
  });
  ask(
    { name: 'vestra_file_store_bytes', help: 'Files of all orgs together; an estimate if there are many.' },
    async () => (await storedBytes())?.[0]?.bytes ?? null,
  );
}

/** Reports empty queues as 0, because a missing series looks like a removed queue. */
function perQueue<Row extends { queue: string }>(rows: readonly Row[] | null, value: (row: Row) => number) {
  if (rows === null) return null;
  const byQueue = new Map(rows.map((row) => [row.queue, value(row)]));
  return queues.map((queue) => ({ labels: { queue }, value: byQueue.get(queue) ?? 0 }));
}

const patienceMs = 2_000;

/** Returns null if the database takes longer than a scrape should wait. */
async function queryWithTimeout<Result>(db: Kernel['db'], statement: Statement<Result>): Promise<Result | null> {
  const answer = transaction(db, async (tx) => {
    const [, result] = await pipelined(tx, [
      runStatement(sql`SET LOCAL statement_timeout = ${sql.raw(String(patienceMs))}`),
      statement,
    ]);
    return result;
  }).catch(() => null);
  const late = new Promise<null>((resolve) => setTimeout(resolve, patienceMs, null).unref());
  return Promise.race([answer, late]);
}

function cachedFor<Result>(ms: number, read: () => Promise<Result>): () => Promise<Result> {
  let kept: { until: number; result: Promise<Result> } | null = null;
  return () => {
    if (kept === null || performance.now() >= kept.until) kept = { until: performance.now() + ms, result: read() };
    return kept.result;
  };
}
