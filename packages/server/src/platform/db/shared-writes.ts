import { AsyncLocalStorage } from 'node:async_hooks';
import { placeOfFailure, type Statement } from './group.ts';
import type { Database } from './pool.ts';
import { pipelined, reading } from './query.ts';
import { sqlState } from './query-error.ts';
import { sql } from './sql.ts';

/**
 * Writes what was decided beforehand, as one transaction. Writes that come while one is under way share the next: one
 * write to the socket and one flush of the log for many. One that fails does not fail the others: they are written again
 * without it, and it alone. `key` is what it locks first.
 */
export type SharedWrites = <const Statements extends readonly Statement[]>(
  key: string,
  statements: Statements,
) => Promise<ResultsOf<Statements>>;

type ResultsOf<Statements extends readonly Statement[]> = {
  -readonly [Key in keyof Statements]: Statements[Key] extends Statement<infer Result> ? Result : never;
};

/** What a writer relied on was no longer so: nothing of its write has happened. */
export const isNoLongerSo = (error: unknown): boolean => sqlState(error) === 'VS001';

type Waiting = {
  key: string;
  statements: readonly Statement[];
  resolve: (results: unknown[]) => void;
  reject: (error: unknown) => void;
};

/** What one of them may hold of an org's money nobody else sees before the commit: `mostUnseen` counts on this. */
export const mostTogether = 20;
/** However many of them fail, those of one group are soon written. */
const mostTries = 3;
/** Whoever waits longer than this for a row holds up nobody else: it is written alone. */
const lockTimeout = '50ms';

const shortWait = reading({}, sql`SELECT set_config('lock_timeout', ${lockTimeout}, true)`);

export function createSharedWrites(db: Database): SharedWrites {
  let waiting: Waiting[] = [];
  let isWriting = false;
  // Whoever comes first starts the writing for all: it is nobody's own.
  const onNobodysBehalf = AsyncLocalStorage.snapshot();

  async function writeAll(): Promise<void> {
    isWriting = true;
    while (waiting.length > 0) {
      const together = takeNext();
      const [only] = together;
      if (only && together.length === 1) await writeAlone(only);
      else await writeTogether(together);
    }
    isWriting = false;
  }

  /** Of each key the first: two writes to one row see each other's only from one transaction to the next. */
  function takeNext(): Waiting[] {
    const byKey = new Map<string, Waiting>();
    for (const each of waiting) if (byKey.size < mostTogether && !byKey.has(each.key)) byKey.set(each.key, each);
    const taken = new Set(byKey.values());
    waiting = waiting.filter((each) => !taken.has(each));
    return [...taken];
  }

  async function writeAlone({ statements, resolve, reject }: Waiting): Promise<void> {
    await pipelined(db, statements).then(resolve, reject);
  }

  /** In the order of their keys: two processes that lock the same rows do not wait for each other in a circle. */
  async function writeTogether(writes: readonly Waiting[]): Promise<void> {
    let left = writes.toSorted((one, other) => (one.key < other.key ? -1 : 1));
    for (let tries = 0; tries < mostTries && left.length > 1; tries++) {
      try {
        const [, ...results] = await pipelined(db, [shortWait, ...left.flatMap(({ statements }) => statements)]);
        for (const { statements, resolve } of left) resolve(results.splice(0, statements.length));
        return;
      } catch (error) {
        // Where PostgreSQL says that it failed, nothing was written; where the connection broke, nobody knows.
        if (!isUndone(error)) {
          for (const { reject } of left) reject(error);
          return;
        }
        const failed = failedOf(left, error);
        if (!failed) break;
        void writeAlone(failed);
        left = left.filter((each) => each !== failed);
      }
    }
    for (const each of left) void writeAlone(each);
  }

  return (key, statements) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, statements, resolve: resolve as Waiting['resolve'], reject });
      if (!isWriting) onNobodysBehalf(() => void writeAll());
    });
}

/** A server that ends its connections may have committed before it said so. */
function isUndone(error: unknown): boolean {
  const state = sqlState(error);
  return state !== undefined && !state.startsWith('57P');
}

/** Before them stands what says how long to wait. */
function failedOf(writes: readonly Waiting[], error: unknown): Waiting | undefined {
  let at = (placeOfFailure(error) ?? 0) - 1;
  return writes.find(({ statements }) => {
    const isIt = at >= 0 && at < statements.length;
    at -= statements.length;
    return isIt;
  });
}
