import { type Sql, sql } from './sql.ts';

/** What arrives while a write is under way shares the next one: many ends cost few statements. */
export function joined<T>(write: (items: T[]) => Promise<unknown>): (item: T) => Promise<void> {
  return joinedReads(async (items: T[]) => {
    await write(items);
    return items.map(() => undefined);
  });
}

/** Each once: many who ask at one moment ask for the same. */
export const distinct = <Wanted>(wanted: readonly Wanted[], nameOf: (wanted: Wanted) => string): Wanted[] => [
  ...new Map(wanted.map((each) => [nameOf(each), each])).values(),
];

/**
 * What is wanted, as rows of text to be joined with. As JSON and not as arrays: of an array PostgreSQL sees how long it is,
 * takes a plan for just that length for better than the one it has kept, and so plans each read anew.
 */
export const wantedRows = <const Name extends string>(
  wanted: readonly Record<Name, string>[],
  names: readonly Name[],
): Sql =>
  sql`json_to_recordset(${sql.json(wanted)}) AS wanted (${sql.raw(names.map((name) => `${name} text`).join(', '))})`;

/**
 * Reads that arrive while one is under way share the next one. Each is answered by a statement that began after it came,
 * so it sees all that was committed by then. `read` answers in the order asked.
 */
export function joinedReads<Wanted, Found>(
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
