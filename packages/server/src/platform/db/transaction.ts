import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { isDatabaseAway } from './away.ts';
import { hasNoSession, type Statement, send } from './group.ts';
import { type Database, longestIdleMs, type Transaction } from './pool.ts';
import { isOvertaken, NotThePrimary } from './primary-check.ts';
import { sqlState } from './query-error.ts';
import { cutWhenGone } from './silence.ts';
import { sql } from './sql.ts';
import { insideTransaction } from './transaction-scope.ts';

const MOST_RETRIES = 3;
const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';

/**
 * Runs `work` in one transaction: committed when it returns, rolled back when it throws.
 *
 * - Inside, use `tx` alone, never `db`: a second connection inside a transaction can deadlock the pool.
 * - `work` runs again, from the start, after a deadlock or a serialization failure: it must do nothing that a rollback
 *   does not undo. Wake followers, send messages and touch caches after the promise resolves.
 * - When the connection is lost during the commit nobody knows its outcome; the error is thrown and nothing repeated.
 */
export async function transaction<T>(db: Database, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return repeatingCollisions(() => runOnce(db.$client, work));
}

/** Whatever `attempt` did must have been undone when it throws. */
export async function repeatingCollisions<T>(attempt: () => Promise<T>): Promise<T> {
  for (let retries = 0; ; retries++) {
    try {
      return await attempt();
    } catch (error) {
      if (retries === MOST_RETRIES || !isWorthRepeating(error)) throw error;
    }
    // Two transactions that collided would collide again if they came back at the same moment.
    await sleep(Math.random() * 20 * 2 ** retries);
  }
}

async function runOnce<T>(pool: pg.Pool, work: (tx: Transaction) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  const open = beginOn(client);
  let broken: Error | undefined;
  try {
    const result = await insideTransaction(pool, () => work(open.tx));
    open.end();
    if (!open.isBegun()) return result;
    if (isOvertaken(client)) throw new NotThePrimary('Another server has become the primary since it began.');
    // PostgreSQL answers COMMIT with a rollback, and without an error, when a statement before it has failed.
    const hasAnswered = cutWhenGone(client);
    const { command } = await client.query('COMMIT').finally(hasAnswered);
    if (command !== 'COMMIT') {
      throw new Error('The transaction was rolled back: one of its statements failed and the error was not passed on.');
    }
    return result;
  } catch (error) {
    open.end();
    await client.query('ROLLBACK').catch((failure: Error) => {
      broken = failure;
    });
    // One to a server that takes no writes any more is of no use to whoever comes next.
    if (error instanceof Error && isDatabaseAway(error)) broken ??= error;
    throw error;
  } finally {
    client.release(broken);
  }
}

const begin: Statement = { sql: sql`BEGIN`, shape: null, result: () => undefined };
/** A session of one's own is told when it is opened; one that is shared forgets it with each transaction. */
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
 * It begins in the same write as its first statement. A statement that `work` started and did not await may come after the
 * end, when the connection belongs to somebody else's transaction: it is refused.
 */
function beginOn(client: pg.PoolClient): { tx: Transaction; isBegun: () => boolean; end: () => void } {
  let isBegun = false;
  let isOver = false;
  return {
    tx: {
      async send(statements) {
        if (isOver) throw new Error('The transaction has ended: await each of its statements inside it.');
        if (isBegun) return send(client, statements);
        isBegun = true;
        const first = hasNoSession(client) ? beginShared : [begin];
        return (await send(client, [...first, ...statements])).slice(first.length);
      },
    },
    isBegun: () => isBegun,
    end: () => {
      isOver = true;
    },
  };
}

function isWorthRepeating(error: unknown): boolean {
  const state = sqlState(error);
  return state === SERIALIZATION_FAILURE || state === DEADLOCK_DETECTED;
}
