import { AsyncLocalStorage } from 'node:async_hooks';
import { placeOfFailure, type Statement } from './pipeline.ts';
import type { Database } from './pool.ts';
import { pipelined, rowsStatement } from './query.ts';
import { sql, sqlState } from './sql.ts';

/**
 * Group commit: writes that arrive during a transaction share the next one, with one socket write and one WAL flush. If one
 * fails, the others are sent again without it, and it is sent alone. `key` names the row that the write locks first.
 */
export type GroupCommit = <const Statements extends readonly Statement[]>(
  key: string,
  statements: Statements,
) => Promise<ResultsOf<Statements>>;

type ResultsOf<Statements extends readonly Statement[]> = {
  -readonly [Key in keyof Statements]: Statements[Key] extends Statement<infer Result> ? Result : never;
};

/** A row changed since the writer read it. Nothing was written. */
export const isStaleRowError = (error: unknown): boolean => sqlState(error) === 'VS001';

type Waiting = {
  key: string;
  statements: readonly Statement[];
  resolve: (results: unknown[]) => void;
  reject: (error: unknown) => void;
};

/** Writes of one transaction do not see each other's holds, and `mostUnseen` relies on this limit. */
export const maxGroupSize = 20;
/** Bounds the delay if several writes of a group fail. */
const maxTries = 3;
/** A write that waits longer for a row lock is sent alone, so that it does not delay the group. */
const lockTimeout = '50ms';

const setLockTimeout = rowsStatement({}, sql`SELECT set_config('lock_timeout', ${lockTimeout}, true)`);

export function createGroupCommit(db: Database): GroupCommit {
  let waiting: Waiting[] = [];
  let isWriting = false;
  // The first caller starts the loop for all, so it must not run in that caller's async context.
  const inNeutralContext = AsyncLocalStorage.snapshot();

  async function writeAll(): Promise<void> {
    isWriting = true;
    while (waiting.length > 0) {
      const together = takeNext();
      const [only] = together;
      if (only && together.length === 1) await writeAlone(only);
      else await writeGroup(together);
    }
    isWriting = false;
  }

  /** Takes the first write of each key: a second write to the same row must see the first, so it needs a later transaction. */
  function takeNext(): Waiting[] {
    const byKey = new Map<string, Waiting>();
    for (const each of waiting) if (byKey.size < maxGroupSize && !byKey.has(each.key)) byKey.set(each.key, each);
    const taken = new Set(byKey.values());
    waiting = waiting.filter((each) => !taken.has(each));
    return [...taken];
  }

  async function writeAlone({ statements, resolve, reject }: Waiting): Promise<void> {
    await pipelined(db, statements).then(resolve, reject);
  }

  /** Sorted by key, so that two processes that lock the same rows cannot deadlock. */
  async function writeGroup(writes: readonly Waiting[]): Promise<void> {
    let left = writes.toSorted((one, other) => (one.key < other.key ? -1 : 1));
    for (let tries = 0; tries < maxTries && left.length > 1; tries++) {
      try {
        const [, ...results] = await pipelined(db, [setLockTimeout, ...left.flatMap(({ statements }) => statements)]);
        for (const { statements, resolve } of left) resolve(results.splice(0, statements.length));
        return;
      } catch (error) {
        // An error from PostgreSQL means that nothing was written. After a broken connection the result is unknown.
        if (!isRolledBack(error)) {
          for (const { reject } of left) reject(error);
          return;
        }
        const failed = findFailed(left, error);
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
      if (!isWriting) inNeutralContext(() => void writeAll());
    });
}

/** A server that shuts down may have committed before it closed the connection. */
export function isRolledBack(error: unknown): boolean {
  const state = sqlState(error);
  return state !== undefined && !state.startsWith('57P');
}

/** The first statement sets the lock timeout, so indexes are shifted by one. */
function findFailed(writes: readonly Waiting[], error: unknown): Waiting | undefined {
  let at = (placeOfFailure(error) ?? 0) - 1;
  return writes.find(({ statements }) => {
    const isIt = at >= 0 && at < statements.length;
    at -= statements.length;
    return isIt;
  });
}
