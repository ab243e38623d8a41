import { type Sql, sql } from './sql.ts';

/** Batches writes: calls that arrive during one write share the next. */
export function batchWrites<T>(write: (items: T[]) => Promise<unknown>): (item: T) => Promise<void> {
  return batchReads(async (items: T[]) => {
    await write(items);
    return items.map(() => undefined);
  });
}

/** Removes duplicates, because concurrent callers often ask for the same row. */
export const distinct = <Wanted>(wanted: readonly Wanted[], nameOf: (wanted: Wanted) => string): Wanted[] => [
  ...new Map(wanted.map((each) => [nameOf(each), each])).values(),
];

/**
 * The requested keys as rows to join with. JSON instead of arrays: PostgreSQL sees the length of an array, prefers a plan
 * for that length over the cached one, and plans every read again.
 */
export const requestedRows = <const Name extends string>(
  wanted: readonly Record<Name, string>[],
  names: readonly Name[],
): Sql =>
  sql`json_to_recordset(${sql.json(wanted)}) AS wanted (${sql.raw(names.map((name) => `${name} text`).join(', '))})`;

/**
 * Batches reads: calls that arrive during one read share the next. The statement starts after the call, so it sees all
 * that was committed by then. `read` must return results in the order of its arguments.
 */
export function batchReads<Wanted, Found>(
  read: (wanted: Wanted[]) => Promise<readonly Found[]>,
): (wanted: Wanted) => Promise<Found> {
  type Waiting = { wanted: Wanted; resolve: (found: Found) => void; reject: (error: unknown) => void };
  let waiting: Waiting[] = [];
  let isReading = false;

  return (wanted) =>
    new Promise((resolve, reject) => {
      waiting.push({ wanted, resolve, reject });
      if (!isReading) void readAll();
    });

  async function readAll(): Promise<void> {
    isReading = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        const found = await read(batch.map(({ wanted }) => wanted));
        for (const [at, { resolve }] of batch.entries()) resolve(found[at] as Found);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isReading = false;
  }
}
