import type pg from 'pg';
import { setSharedClock } from './clock.ts';

/** A connection that must not be used: where it leads no writes are taken, or only by a server whose time is over. */
export class NotThePrimary extends Error {
  override readonly name = 'NotThePrimary';
  /** The server rejected the connection: to everybody else the database is away. */
  readonly code = '08004';
}

/** What a server says of itself. The timeline is null where it does not tell. */
type Standing = { read_only: boolean; timeline: number | null; now_ms: number };

/** The highest timeline that any connection of a pool has met. */
type Watch = { newest: number };

const metBy = new WeakMap<object, { timeline: number; watch: Watch }>();

/**
 * Asks each new connection of a pool whether it leads to the primary, in one round trip. A standby that was made primary
 * begins a new timeline. A process that has met one never goes back to a server of an older one: that was the primary
 * before, and what is written there is lost when it learns so.
 */
export function createPrimaryCheck(onNewPrimary: () => void): (client: pg.PoolClient) => Promise<void> {
  const watch: Watch = { newest: 0 };
  return async (client) => {
    const askedAt = performance.now();
    const { read_only, timeline, now_ms } = await standingOf(client);
    if (read_only) throw new NotThePrimary('The server is read-only: it is a standby, or takes no writes now.');
    setSharedClock(now_ms, { askedAt, answeredAt: performance.now() });
    if (timeline === null) return;
    if (timeline < watch.newest) {
      throw new NotThePrimary(`The server is on timeline ${timeline}, and timeline ${watch.newest} has begun since.`);
    }
    const isOther = watch.newest > 0 && timeline > watch.newest;
    watch.newest = timeline;
    if (isOther) onNewPrimary();
    metBy.set(client, { timeline, watch });
  };
}

/** Since this connection was opened another server has become the primary. */
export function isOvertaken(client: object): boolean {
  const met = metBy.get(client);
  return met !== undefined && met.timeline < met.watch.newest;
}

async function standingOf(client: pg.PoolClient): Promise<Standing> {
  try {
    return await ask(client, TIMELINE);
  } catch (error) {
    // Servers that keep no log of their own, or show it to nobody, say so by one of these.
    if (!['0A000', '42501', '42883', '55000'].includes((error as pg.DatabaseError).code ?? '')) throw error;
    return ask(client, 'NULL');
  }
}

/** The first eight digits of a log file's name; a standby has none that it writes. */
const TIMELINE = `CASE WHEN NOT pg_is_in_recovery()
  THEN ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int END`;

async function ask(client: pg.PoolClient, timeline: string): Promise<Standing> {
  const { rows } = await client.query<Standing>(
    // Statements here are short: to compile one takes PostgreSQL ten times as long as to run it.
    `SELECT set_config('jit', 'off', false), pg_is_in_recovery() OR current_setting('default_transaction_read_only')::bool AS read_only, ${timeline} AS timeline,
       (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now_ms`,
  );
  return rows[0] as Standing;
}
