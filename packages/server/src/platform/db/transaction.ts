import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { noteFullDisk } from './full-disk.ts';
import { MissingRow, refersToMissingRow } from './missing-row.ts';
import { hasNoSession, type Statement, send } from './pipeline.ts';
import { type Database, insideTransaction, longestIdleMs, type Transaction } from './pool.ts';
import { isOvertaken, NotThePrimary } from './primary-check.ts';
import { sql, sqlState } from './sql.ts';
import { isDatabaseUnreachable } from './unreachable.ts';

const MAX_RETRIES = 3;
const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';

/**
 * Runs `work` in one transaction: committed when it returns, rolled back when it throws.
 *
 * - Inside, use only `tx`, never `db`: a second connection inside a transaction can deadlock the pool.
 * - After a deadlock, a serialization failure, or if a row that it refers to was deleted meanwhile, `work` runs again
 *   from the start, so it must do nothing that a rollback does not undo. Wake followers, send messages and update
 *   caches after the promise resolves.
 * - If the connection is lost during the commit, its result is unknown: the error is thrown and nothing is repeated.
 */
export async function transaction<T>(db: Database, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return repeatingCollisions(() => runOnce(db.$client, work));
}

/** `attempt` must have been rolled back when it throws. */
export async function repeatingCollisions<T>(attempt: () => Promise<T>): Promise<T> {
  for (let retries = 0; ; retries++) {
    try {
      return await attempt();
    } catch (error) {
      if (retries === MAX_RETRIES || !isWorthRepeating(error)) throw error;
    }
    // A random pause, so that the same two transactions do not collide again.
    await sleep(Math.random() * 20 * 2 ** retries);
  }
}

async function runOnce<T>(pool: pg.Pool, work: (tx: Transaction) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  const open = beginOn(client);
  let broken: Error | undefined;
  try {
    const result = await insideTransaction(pool, () => work(open.tx));
    const unsent = open.end();
    if (unsent.length === 0 && !open.isBegun()) return result;
    if (isOvertaken(client))
      throw new NotThePrimary('Another server has become the primary since the transaction began.');
    // PostgreSQL answers COMMIT with ROLLBACK, and no error, if an earlier statement has failed.
    const tag = (await send(client, [...unsent, commit])).at(-1);
    if (tag !== 'COMMIT') {
      throw new Error('The transaction was rolled back: one of its statements failed and the error was swallowed.');
    }
    return result;
  } catch (error) {
    open.end();
    if (open.isBegun()) {
      await client.query('ROLLBACK').catch((failure: Error) => {
        broken = failure;
      });
    }
    noteFullDisk(pool, error);
    // Drop a connection to a server that accepts no more writes, so that no later caller gets it.
    if (error instanceof Error && isDatabaseUnreachable(error)) broken ??= error;
    throw error;
  } finally {
    client.release(broken);
  }
}

const begin: Statement = { sql: sql`BEGIN`, shape: null, result: () => undefined };
/** Not prepared: parsing it costs nothing, and its text stays readable on the wire. */
const commit: Statement = { sql: sql`COMMIT`, shape: null, result: (_rows, _count, tag) => tag, isPlannedAnew: true };
/** Shared sessions lose their settings after each transaction, so each transaction sets them again. */
const beginShared: Statement[] = [
  begin,
  {
    sql: sql.raw(
      `SELECT set_config('idle_in_transaction_session_timeout', '${longestIdleMs}', true), set_config('jit', 'off', true)`,
    ),
    shape: null,
    result: () => undefined,
  },
];

/**
 * Sends BEGIN in the same write as the first statement. Rejects statements after the end: `work` may not have awaited one,
 * and the connection may already run another transaction. `end` returns the statements that are still to be sent.
 */
function beginOn(client: pg.PoolClient): { tx: Transaction; isBegun: () => boolean; end: () => Statement[] } {
  let isBegun = false;
  let hasEnded = false;
  let unsent: Statement[] = [];
  const assertOpen = () => {
    if (hasEnded) throw new Error('The transaction has ended: await each of its statements inside it.');
  };
  /** BEGIN, if it was not sent yet, and the statements that were left for this write. */
  const takeUnsent = () => {
    const taken = isBegun ? unsent : [...(hasNoSession(client) ? beginShared : [begin]), ...unsent];
    isBegun = true;
    unsent = [];
    return taken;
  };
  return {
    tx: {
      async send(statements) {
        assertOpen();
        const first = takeUnsent();
        if (first.length === 0) return send(client, statements);
        return (await send(client, [...first, ...statements])).slice(first.length);
      },
      sendLater(statements) {
        assertOpen();
        unsent.push(...statements);
      },
    },
    isBegun: () => isBegun,
    end: () => {
      hasEnded = true;
      return unsent.length > 0 ? takeUnsent() : [];
    },
  };
}

function isWorthRepeating(error: unknown): boolean {
  const state = sqlState(error);
  const isRowGone = error instanceof MissingRow || refersToMissingRow(error);
  return state === SERIALIZATION_FAILURE || state === DEADLOCK_DETECTED || isRowGone;
}
