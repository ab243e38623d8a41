import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import { isDatabaseAway } from './away.ts';
import { describeTarget, explainConnectionFailure } from './connection-failure.ts';
import { noteNoSession, type Statement } from './group.ts';
import { createOutageLog, type OutageLog } from './outage-log.ts';
import { assertSameDatabase, isShared, needsDirectUrl, type Pooler, processIdOf } from './pooler.ts';
import { createPrimaryCheck, isOvertaken, NotThePrimary } from './primary-check.ts';
import { isServerAtWork, watchSilence } from './silence.ts';
import { StartFailure } from './start-failure.ts';
import { assertNoOpenTransaction } from './transaction-scope.ts';

export type Database = {
  readonly $client: pg.Pool;
  /** Where a session of one's own is to be had, where the pool's connections give none. */
  readonly directUrl?: string;
};

/** One connection with a transaction on it, for as long as the work that `transaction` runs. */
export type Transaction = { readonly send: (statements: readonly Statement[]) => Promise<unknown[]> };

/** What a store function takes: it works alone or inside the transaction of its caller. */
export type Executor = Database | Transaction;

/** Of one process. */
export const mostConnections = 20;

const OLDEST_SERVER = 15;
const CONNECTION_TIMEOUT = 10_000;
/** A peer that vanished while a connection was idle is noticed some ten seconds after this. */
const KEEPALIVE_DELAY = 10_000;
const CLOSING_TIMEOUT = 5_000;
/** Longer than nearly anything that is asked here takes, with its wait for locks. */
const SILENCE = 60_000;

/** A transaction that a bug leaves open would hold its locks and hold back vacuum until the process ends. */
export const longestIdleMs = 60_000;

/**
 * Proves that the database answers and can be used, and opens the pool; otherwise a StartFailure says why not. A database
 * that goes away later is waited for: each query fails by itself, and `log` hears of the beginning and the end.
 */
export async function openDatabase(options: {
  connectionString: string;
  max?: number;
  /** What stands in between, and the way past it. */
  pooler?: Pooler;
  log?: Logger;
  /** For so long a database is waited for that is there and not ready, as during a failover. */
  patienceMs?: number;
  /** The embedded one: it is of our making, and nothing stands in between. */
  isOwn?: boolean;
  /** For so long the server may be silent before it is asked whether it is still there. */
  silenceMs?: number;
}): Promise<Database> {
  const { connectionString, pooler = { kind: null, directUrl: null }, silenceMs: afterMs = SILENCE } = options;
  const { isThroughPooler } = options.isOwn ? { isThroughPooler: false } : await untilUsable(options);
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
    max: options.max ?? mostConnections,
    application_name: 'vestra',
    // With every connection busy for this long the query fails, and the caller hears `not_ready` instead of nothing.
    connectionTimeoutMillis: CONNECTION_TIMEOUT,
    // Poolers take no settings of a session they do not have; there each transaction says so itself.
    ...(!isThroughPooler && !sharesSessions && { idle_in_transaction_session_timeout: longestIdleMs }),
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_DELAY,
    verify: (client, done) => void check(client).then(() => done(), done),
  });
  // Without these listeners a connection that the server closes ends the whole process. The query in flight is
  // rejected by itself, and the pool drops the connection.
  pool.on('error', () => {});
  pool.on('connect', (client) => {
    client.on('error', () => {});
    const processId = isThroughPooler || sharesSessions ? null : processIdOf(client);
    watchSilence(client, { afterMs, isAtWork: () => isServerAtWork(connectionString, processId) });
    if (sharesSessions) noteNoSession(client);
    else if (isThroughPooler)
      void client.query(`SET idle_in_transaction_session_timeout = ${longestIdleMs}`).catch(() => {});
  });
  watchConnecting(pool, outage);
  listenersOf.set(pool, listeners);
  return { $client: pool, ...(sharesSessions && { directUrl: pooler.directUrl as string }) };
}

const listenersOf = new WeakMap<pg.Pool, Set<() => void>>();

/**
 * Calls back before the first query to a server that has become the primary in place of another. It may lack the last
 * writes of that one, and give their transactions' numbers to others.
 */
export function onNewPrimary(db: Database, listener: () => void): void {
  listenersOf.get(db.$client)?.add(listener);
}

/** A connection whose peer vanished does not hear the goodbye: it is not waited for. */
export async function closeDatabase(db: Database): Promise<void> {
  await Promise.race([db.$client.end(), sleep(CLOSING_TIMEOUT, undefined, { ref: false })]);
}

async function untilUsable(options: {
  connectionString: string;
  log?: Logger;
  patienceMs?: number;
}): Promise<{ isThroughPooler: boolean }> {
  const { connectionString, log, patienceMs = 0 } = options;
  const until = performance.now() + patienceMs;
  for (let isTold = false; ; isTold = true) {
    try {
      return await assertUsable(connectionString);
    } catch (error) {
      if (!isPassing(error) || performance.now() > until) throw error;
      if (!isTold) log?.warn(`${(error as Error).message} It is waited for.`);
    }
    await sleep(1_000);
  }
}

/** Where nobody answers at all the address is likely a wrong one, which is said at once. */
const isPassing = (error: unknown) =>
  isDatabaseAway(error) && !['ECONNREFUSED', 'ENOENT', 'ENOTFOUND'].includes(codeOf((error as Error).cause));

const codeOf = (cause: unknown) => String((cause as { code?: unknown } | undefined)?.code);

/** A connection of its own, since the pool leaves the socket of a failed attempt open. */
export async function assertUsable(connectionString: string): Promise<{ isThroughPooler: boolean }> {
  const target = describeTarget(connectionString);
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: CONNECTION_TIMEOUT });
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

/** `pool.query` takes its connection by `pool.connect` too, so every way to a connection passes here. */
function watchConnecting(pool: pg.Pool, outage: OutageLog): void {
  const connect = pool.connect.bind(pool) as (callback: Connected) => void;
  const next = (callback: Connected): void =>
    connect((error, client, release) => {
      if (error) outage.failed(error);
      else outage.connected();
      if (!client || !isOvertaken(client)) return callback(error, client, release);
      // It leads to the primary of before: what is written there is lost.
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
