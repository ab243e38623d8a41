import pg from 'pg';
import { sqlState } from './query-error.ts';

const CONNECTION_TIMEOUT = 10_000;
const TOO_MANY_CONNECTIONS = '53300';

/** After how long without an answer it is asked whether the server is still at work, and how that is asked. */
type Watch = { afterMs: number; isAtWork: () => Promise<boolean> };

const watches = new WeakMap<pg.ClientBase, Watch>();

export const watchSilence = (client: pg.ClientBase, watch: Watch): void => void watches.set(client, watch);

/**
 * A peer that vanished after it was asked sends no end, and TCP waits a quarter of an hour for it. A statement may rightly
 * take as long: an index over a large table, a user who is erased, a wait for a lock. So the server is asked, over another
 * connection, whether it is still at it; where it is not, the connection is cut, and `pg` rejects what was asked on it.
 */
export function cutWhenGone(client: pg.ClientBase): () => void {
  const watch = watches.get(client);
  if (!watch) return () => {};
  const { afterMs, isAtWork } = watch;
  const { stream } = (client as object as { connection: pg.Connection }).connection;
  let isAnswered = false;
  const look = async () => {
    const goesOn = await isAtWork();
    if (isAnswered) return;
    if (goesOn) timer = setTimeout(look, afterMs);
    else stream.destroy();
  };
  let timer = setTimeout(look, afterMs);
  return () => {
    isAnswered = true;
    clearTimeout(timer);
  };
}

/**
 * Whether the server works for the session with this process id. Behind a pooler nobody knows the session: there it has to
 * do that anybody answers.
 */
export async function isServerAtWork(connectionString: string, processId: number | null): Promise<boolean> {
  const client = new pg.Client({
    connectionString,
    application_name: 'vestra',
    connectionTimeoutMillis: CONNECTION_TIMEOUT,
    query_timeout: CONNECTION_TIMEOUT,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rowCount } = await client.query(
      `SELECT WHERE $1::int IS NULL OR EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1 AND state NOT LIKE 'idle%')`,
      [processId],
    );
    return rowCount === 1;
  } catch (error) {
    return sqlState(error) === TOO_MANY_CONNECTIONS;
  } finally {
    await client.end().catch(() => {});
  }
}
