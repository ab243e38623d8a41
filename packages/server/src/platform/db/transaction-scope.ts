import { AsyncLocalStorage } from 'node:async_hooks';

/** One open transaction, as seen by everything that runs inside it. */
type Scope = { pool: object; open: boolean; outer: Scope | undefined };

const scopes = new AsyncLocalStorage<Scope>();

/**
 * In production a query that strays outside its transaction is a risk of deadlock; refusing it would be a certain
 * error. Everywhere else the certain error is what gets it repaired.
 */
const isWatching = process.env.NODE_ENV !== 'production';

/** Runs `work` so that `assertNoOpenTransaction` recognises what is called from inside it. */
export async function insideTransaction<T>(pool: object, work: () => Promise<T>): Promise<T> {
  if (!isWatching) return work();
  const scope: Scope = { pool, open: true, outer: scopes.getStore() };
  try {
    return await scopes.run(scope, work);
  } finally {
    // What a transaction started and left running keeps this scope; after the end it may use the pool again.
    scope.open = false;
  }
}

/**
 * A transaction that waits for a second connection of its own pool deadlocks as soon as every connection is held by
 * one that waits likewise.
 */
export function assertNoOpenTransaction(pool: object): void {
  for (let scope = scopes.getStore(); scope; scope = scope.outer) {
    if (scope.pool === pool && scope.open) {
      throw new Error(
        'The database was used beside an open transaction: pass `tx` on and use it, since a second connection inside a transaction can deadlock the pool.',
      );
    }
  }
}
