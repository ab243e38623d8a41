import type pg from 'pg';
import { setSharedClock } from './clock.ts';

/** The connection must not be used, because it leads to a standby or to a former primary. */
export class NotThePrimary extends Error {
  override readonly name = 'NotThePrimary';
  /** "Server rejected the connection", so that callers treat the database as unreachable. */
  readonly code = '08004';
}

/** The timeline is null if the server does not reveal it. */
type ServerState = { read_only: boolean; timeline: number | null; now_ms: number };

/** The highest timeline that any connection of a pool has seen. */
type TimelineWatch = { newest: number };

const timelineOf = new WeakMap<object, { timeline: number; watch: TimelineWatch }>();

/**
 * Checks in one round trip that a new connection leads to the primary. A promoted standby starts a new timeline. A process
 * that has seen a timeline never uses a server with an older one: that server is the former primary, and writes to it
 * are lost.
 */
export function createPrimaryCheck(onNewPrimary: () => void): (client: pg.PoolClient) => Promise<void> {
  const watch: TimelineWatch = { newest: 0 };
  return async (client) => {
    const askedAt = performance.now();
    const { read_only, timeline, now_ms } = await readServerState(client);
    if (read_only) throw new NotThePrimary('The server is read-only: it is a standby, or takes no writes now.');
    setSharedClock(now_ms, { askedAt, answeredAt: performance.now() });
    if (timeline === null) return;
    if (timeline < watch.newest) {
      throw new NotThePrimary(`The server is on timeline ${timeline}, and timeline ${watch.newest} has begun since.`);
    }
    const isNewPrimary = watch.newest > 0 && timeline > watch.newest;
    watch.newest = timeline;
    if (isNewPrimary) onNewPrimary();
    timelineOf.set(client, { timeline, watch });
  };
}

/** True if another server has become the primary since this connection was opened. */
export function isOvertaken(client: object): boolean {
  const met = timelineOf.get(client);
  return met !== undefined && met.timeline < met.watch.newest;
}

async function readServerState(client: pg.PoolClient): Promise<ServerState> {
  try {
    return await ask(client, TIMELINE);
  } catch (error) {
    // Servers without their own WAL, or without the right to read it, return one of these codes.
    if (!['0A000', '42501', '42883', '55000'].includes((error as pg.DatabaseError).code ?? '')) throw error;
    return ask(client, 'NULL');
  }
}

/** The first eight digits of the name of a WAL file. A standby writes none. */
const TIMELINE = `CASE WHEN NOT pg_is_in_recovery()
  THEN ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int END`;

async function ask(client: pg.PoolClient, timeline: string): Promise<ServerState> {
  const { rows } = await client.query<ServerState>(
    // Our statements are short, and JIT compilation takes ten times as long as running one.
    `SELECT set_config('jit', 'off', false), pg_is_in_recovery() OR current_setting('default_transaction_read_only')::bool AS read_only, ${timeline} AS timeline,
       (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now_ms`,
  );
  return rows[0] as ServerState;
}
