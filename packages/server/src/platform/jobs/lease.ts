import { type Sql, sql } from '../db/sql.ts';

/**
 * Runs, jobs, computers and function calls are held by one process at a time. A row stores when its lease ends, by the
 * clock of the database. The holder renews the lease; when it ends, another process may take the row. Each holder
 * writes under a number or id that only its lease has, so that a process that was paused cannot overwrite its successor.
 */
export const leaseEnd = (leaseMs: number): Sql =>
  sql`clock_timestamp() + ${leaseMs}::float8 * interval '1 millisecond'`;

export type Heartbeat = {
  /** Renews at once. */
  beat: () => Promise<void>;
  /** Resolves when no renewal is under way. */
  stop: () => Promise<void>;
};

/**
 * Renews everything this process holds. If a renewal fails, nothing counts as lost: the leases may still be good, and
 * the next beat follows. Beats may overlap, since a query to a database that went away can hang.
 */
export function startHeartbeat<Held>({
  everyMs,
  held,
  renew,
  onLost,
  onError,
  afterwards,
}: {
  everyMs: number;
  held: () => readonly Held[];
  /** Returns a test for the entries that are still held. */
  renew: (entries: readonly Held[]) => Promise<(entry: Held) => boolean>;
  onLost: (entry: Held) => void | Promise<void>;
  onError: (error: unknown) => void;
  /** Runs after each beat, even if its renewal failed. Must not throw. */
  afterwards?: () => Promise<void>;
}): Heartbeat {
  const beats = new Set<Promise<void>>();

  async function beat(): Promise<void> {
    // Read the entries before the query: those that are added meanwhile are not in its result.
    const entries = [...held()];
    if (entries.length === 0) return;
    try {
      const isHeld = await renew(entries);
      await Promise.all(entries.filter((entry) => !isHeld(entry)).map(onLost));
    } catch (error) {
      onError(error);
    }
  }

  const timer = setInterval(() => {
    const beating = beat()
      .then(afterwards)
      .finally(() => beats.delete(beating));
    beats.add(beating);
  }, everyMs);
  timer.unref();

  return {
    beat,
    async stop() {
      clearInterval(timer);
      await Promise.all(beats);
    },
  };
}
