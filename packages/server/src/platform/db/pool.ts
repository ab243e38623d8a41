import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import { describeTarget, explainConnectionFailure } from './connection-failure.ts';
import { isServerAtWork, watchSilence } from './connection-probe.ts';
import { noteNoSession, type Statement } from './pipeline.ts';
import { createPrimaryCheck, isOvertaken, NotThePrimary } from './primary-check.ts';
import { StartFailure } from './start-failure.ts';
import { createOutageLog, isDatabaseUnreachable, type OutageLog } from './unreachable.ts';

export type Database = {
  readonly $client: pg.Pool;
  /** The address for dedicated sessions, set if the pool goes through a pooler that shares sessions. */
  readonly directUrl?: string;
};

/** A connection with an open transaction, valid while the callback of `transaction` runs. */
export type Transaction = {
  readonly send: (statements: readonly Statement[]) => Promise<unknown[]>;
  /** Adds statements to the next write or to that of the COMMIT. Without it, `sendLater` sends them at once. */
  readonly sendLater?: (statements: readonly Statement[]) => void;
};

/** The parameter of store functions, which work alone or inside the transaction of their caller. */
export type Executor = Database | Transaction;

/** Per process. */
export const maxConnections = 20;

const OLDEST_SERVER = 15;
const CONNECTION_TIMEOUT = 10_000;
/** TCP detects a peer that vanished during idle time about ten seconds after this. */
const KEEPALIVE_DELAY = 10_000;
const CLOSING_TIMEOUT = 5_000;
/** Longer than almost every statement takes, including its wait for locks. */
const PROBE_AFTER = 60_000;

/** Ends a transaction that a bug leaves open. It would keep its locks and block vacuum until the process ends. */
export const longestIdleMs = 60_000;

/**
 * Checks that the database is usable and opens the pool, or throws a StartFailure. If the database becomes unreachable
 * later, each query fails by itself, and `log` gets the start and the end of the outage.
 */
export async function openDatabase(options: {
  connectionString: string;
  max?: number;
  /** The pooler in between, and the address that bypasses it. */
  pooler?: Pooler;
  log?: Logger;
  /** How long to wait for a database that is not ready, as during a failover. */
  patienceMs?: number;
  /** How long the first connection may take. */
  connectWithinMs?: number;
  /** True for the embedded database, which needs no checks and has no pooler. */
  isOwn?: boolean;
  /** How long a statement may run before the connection is probed. */
  silenceMs?: number;
}): Promise<Database> {
  const { connectionString, pooler = { kind: null, directUrl: null }, silenceMs: afterMs = PROBE_AFTER } = options;
  const { isThroughPooler } = options.isOwn ? { isThroughPooler: false } : await waitUntilUsable(options);
  const sharesSessions =
    pooler.kind === 'transaction' || (isThroughPooler && pooler.kind === null && (await isShared(connectionString)));
  if (sharesSessions) {
    const { directUrl } = pooler;
    if (directUrl === null) throw needsDirectUrl(describeTarget(connectionString).name);
    await assertUsable(directUrl);
    await assertSameDatabase({ connectionString, directUrl });
  }
  const outage = createOutageLog(options.log);
  const listeners = new Set<() => void>();
  const check = createPrimaryCheck(() => {
    for (const listener of listeners) listener();
  });
  const pool = new pg.Pool({
    connectionString,
    max: options.max ?? maxConnections,
    application_name: 'vestra',
    // If all connections are busy for this long, the query fails and the API returns `not_ready`.
    connectionTimeoutMillis: CONNECTION_TIMEOUT,
    // Poolers reject session settings at connect. There each transaction sets them itself.
    ...(!isThroughPooler && !sharesSessions && { idle_in_transaction_session_timeout: longestIdleMs }),
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_DELAY,
    verify: (client, done) => void check(client).then(() => done(), done),
  });
  // Without these listeners a connection that the server closes ends the process. `pg` rejects the query in flight, and
  // the pool drops the connection.
  pool.on('error', () => {});
  pool.on('connect', (client) => {
    client.on('error', () => {});
    const processId = isThroughPooler || sharesSessions ? null : processIdOf(client);
    watchSilence(client, { afterMs, isAtWork: () => isServerAtWork(connectionString, processId) });
    if (sharesSessions) noteNoSession(client);
    else if (isThroughPooler)
      void client.query(`SET idle_in_transaction_session_timeout = ${longestIdleMs}`).catch(() => {});
  });
  wrapConnect(pool, outage);
  listenersOf.set(pool, listeners);
  return { $client: pool, ...(sharesSessions && { directUrl: pooler.directUrl as string }) };
}

const listenersOf = new WeakMap<pg.Pool, Set<() => void>>();

/**
 * Calls the listener before the first query to a new primary. It may lack the last writes of the former primary and reuse
 * their transaction ids.
 */
export function onNewPrimary(db: Database, listener: () => void): void {
  listenersOf.get(db.$client)?.add(listener);
}

/** Does not wait forever for a connection whose peer vanished. */
export async function closeDatabase(db: Database): Promise<void> {
  await Promise.race([db.$client.end(), sleep(CLOSING_TIMEOUT, undefined, { ref: false })]);
}

async function waitUntilUsable(options: {
  connectionString: string;
  log?: Logger;
  patienceMs?: number;
  connectWithinMs?: number;
}): Promise<{ isThroughPooler: boolean }> {
  const { connectionString, log, patienceMs = 0, connectWithinMs } = options;
  const until = performance.now() + patienceMs;
  let lateReads = 0;
  for (let isLogged = false; ; isLogged = true) {
    const before = performance.eventLoopUtilization();
    try {
      return await assertUsable(connectionString, connectWithinMs);
    } catch (error) {
      if (isTimeout(error) && wasBusySince(before) && lateReads++ < mostLateReads) continue;
      if (!isTemporary(error) || performance.now() > until) throw error;
      if (!isLogged) log?.warn(`${(error as Error).message} Waiting for it.`);
    }
    await sleep(1_000);
  }
}

/**
 * Whether this process was too busy to read the answer of the database. A start reads many modules, which takes longer
 * than a connection may take if the machine is overloaded. The timer then ends a connection that was answered.
 */
const wasBusySince = (before: EventLoopUtilization): boolean =>
  performance.eventLoopUtilization(before).utilization > 0.5;

/** The modules are read after a few attempts. */
const mostLateReads = 10;

const isTimeout = (error: unknown) => /timeout/i.test(String(((error as Error).cause as Error | undefined)?.message));

/** If nothing answers at all, the address is probably wrong, so the start fails at once. */
const isTemporary = (error: unknown) =>
  isDatabaseUnreachable(error) && !['ECONNREFUSED', 'ENOENT', 'ENOTFOUND'].includes(codeOf((error as Error).cause));

const codeOf = (cause: unknown) => String((cause as { code?: unknown } | undefined)?.code);

/** Uses a separate connection, because the pool leaves the socket of a failed attempt open. */
export async function assertUsable(
  connectionString: string,
  withinMs = CONNECTION_TIMEOUT,
): Promise<{ isThroughPooler: boolean }> {
  const target = describeTarget(connectionString);
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: withinMs });
  client.on('error', () => {});
  try {
    await client.connect();
    const server = await askServer(client);
    assertSuitable(server, target.name);
    return { isThroughPooler: server.pid !== processIdOf(client) };
  } catch (error) {
    throw error instanceof StartFailure ? error : explainConnectionFailure(error, target);
  } finally {
    await client.end().catch(() => {});
  }
}

type ServerFacts = { version: number; encoding: string; read_only: boolean; pid: number };

async function askServer(client: pg.Client): Promise<ServerFacts> {
  const { rows } = await client.query<ServerFacts>(
    `SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding,
            pg_backend_pid() AS pid, pg_is_in_recovery() OR current_setting('default_transaction_read_only')::bool AS read_only`,
  );
  return rows[0] as ServerFacts;
}

function assertSuitable(server: ServerFacts, name: string): void {
  const major = Math.floor(server.version / 10_000);
  if (major < OLDEST_SERVER) {
    throw new StartFailure(`The database ${name} is PostgreSQL ${major}, and Vestra needs ${OLDEST_SERVER} or newer.`);
  }
  if (server.encoding !== 'UTF8') {
    throw new StartFailure(`The database ${name} is encoded as ${server.encoding}: create it with ENCODING 'UTF8'.`);
  }
  if (server.read_only) {
    throw new StartFailure(`The database ${name} is read-only: let DATABASE_URL name the primary server.`, {
      cause: new NotThePrimary('The server is read-only.'),
    });
  }
}

/** Wraps `pool.connect`, which `pool.query` uses too, so every checkout passes here. */
function wrapConnect(pool: pg.Pool, outage: OutageLog): void {
  const connect = pool.connect.bind(pool) as (callback: Connected) => void;
  const next = (callback: Connected): void =>
    connect((error, client, release) => {
      if (error) outage.failed(error);
      else outage.connected();
      if (!client || !isOvertaken(client)) return callback(error, client, release);
      // The connection leads to the former primary, where writes are lost.
      release(new Error('Another server is the primary now.'));
      next(callback);
    });
  pool.connect = ((callback?: Connected) => {
    assertNoOpenTransaction(pool);
    if (callback) return next(callback);
    return new Promise<pg.PoolClient>((resolve, reject) => {
      next((error, client) => (client ? resolve(client) : reject(error)));
    });
  }) as typeof pool.connect;
}

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  release: (error?: Error | boolean) => void,
) => void;

/** The pooler between this process and the database. If `kind` is null, it is detected. */
export type Pooler = { kind: 'transaction' | 'session' | null; directUrl: string | null };

/** The process id from the handshake. A pooler invents one, which differs from `pg_backend_pid()`. */
const processIdOf = (client: pg.Client): number => (client as unknown as { processID: number }).processID;

const answerWithinMs = 5_000;
const checkCount = 3;

/**
 * Whether a pooler shares server sessions between transactions. Without one, two open connections keep two sessions. With
 * one, a connection gets the session of the other, or a different one than before.
 */
async function isShared(connectionString: string): Promise<boolean> {
  const [one, other] = await Promise.all([openSession(connectionString), openSession(connectionString)]);
  try {
    const first = await sessionOf(one);
    for (let look = 0; look < checkCount; look++) {
      await other.query('BEGIN');
      // Check this first: if all connections share one session, a query on `one` would wait for this transaction.
      if ((await sessionOf(other)) === first) return true;
      if ((await sessionOf(one)) !== first) return true;
      await other.query('ROLLBACK');
    }
    return false;
  } finally {
    await Promise.all([one, other].map(endSession));
  }
}

/** Notifications sent through the pooler must arrive at the direct address, or processes would miss them. */
async function assertSameDatabase(of: { connectionString: string; directUrl: string }): Promise<void> {
  if (await isShared(of.directUrl)) {
    throw new StartFailure(
      'DATABASE_DIRECT_URL leads through a connection pooler in transaction mode too: let it name the database itself.',
    );
  }
  const [through, beside] = await Promise.all([openSession(of.connectionString), openSession(of.directUrl)]);
  try {
    const channel = `vestra_${randomUUID()}`;
    await beside.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
    const heard = once(beside, 'notification', { signal: AbortSignal.timeout(answerWithinMs) });
    heard.catch(() => {});
    await through.query('SELECT pg_notify($1, $2)', [channel, '']);
    await heard;
  } catch (error) {
    if ((error as Error).name !== 'AbortError') throw error;
    throw new StartFailure(
      'Notifications sent at DATABASE_URL do not arrive at DATABASE_DIRECT_URL: both must name the same database of the same server.',
    );
  } finally {
    await Promise.all([through, beside].map(endSession));
  }
}

const needsDirectUrl = (name: string) =>
  new StartFailure(
    `The database ${name} is reached through a connection pooler in transaction mode, which delivers no notifications and holds no locks: also set DATABASE_DIRECT_URL to the address of the database itself, or use that as DATABASE_URL.`,
  );

async function openSession(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: answerWithinMs });
  client.on('error', () => {});
  await client.connect();
  return client;
}

async function sessionOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return (rows[0] as { pid: number }).pid;
}

const endSession = (client: pg.Client) => client.end().catch(() => {});

/** An open transaction in the async context of its callback. */
type Scope = { pool: object; open: boolean; outer: Scope | undefined };

const scopes = new AsyncLocalStorage<Scope>();

/**
 * Off in production: there a query beside its transaction only risks a deadlock, and rejecting it would be a certain error.
 * In tests the error makes the bug visible.
 */
const isChecking = process.env.NODE_ENV !== 'production';

/** Runs `work` so that `assertNoOpenTransaction` detects calls from inside it. */
export async function insideTransaction<T>(pool: object, work: () => Promise<T>): Promise<T> {
  if (!isChecking) return work();
  const scope: Scope = { pool, open: true, outer: scopes.getStore() };
  try {
    return await scopes.run(scope, work);
  } finally {
    // Background work that the transaction started keeps this scope, and may use the pool after the end.
    scope.open = false;
  }
}

/**
 * Prevents a deadlock: transactions that wait for a second connection of their own pool can hold all connections and wait
 * for each other forever.
 */
function assertNoOpenTransaction(pool: object): void {
  for (let scope = scopes.getStore(); scope; scope = scope.outer) {
    if (scope.pool === pool && scope.open) {
      throw new Error(
        'The database was used beside an open transaction: pass `tx` on and use it, since a second connection inside a transaction can deadlock the pool.',
      );
    }
  }
}
