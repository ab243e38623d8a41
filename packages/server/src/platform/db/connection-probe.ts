import pg from 'pg';
import { sqlState } from './sql.ts';

const CONNECTION_TIMEOUT = 10_000;
const TOO_MANY_CONNECTIONS = '53300';

/** `isAtWork` runs after each `afterMs` without an answer and returns whether the server still runs the statement. */
type Probe = { afterMs: number; isAtWork: () => Promise<boolean> };

const probes = new WeakMap<pg.ClientBase, Probe>();

export const watchSilence = (client: pg.ClientBase, probe: Probe): void => void probes.set(client, probe);

/**
 * Detects a server that vanished while a statement was running: TCP would wait a quarter of an hour for it. A long time alone
 * proves nothing, because an index build, an erasure or a lock may take as long. The probe therefore asks the server over a
 * second connection. If the statement no longer runs there, it destroys the socket, and `pg` rejects the query.
 */
export function cutWhenGone(client: pg.ClientBase): () => void {
  const probe = probes.get(client);
  if (!probe) return () => {};
  const { afterMs, isAtWork } = probe;
  const { stream } = (client as object as { connection: pg.Connection }).connection;
  let hasAnswer = false;
  const check = async () => {
    const isRunning = await isAtWork();
    if (hasAnswer) return;
    if (isRunning) timer = setTimeout(check, afterMs);
    else stream.destroy();
  };
  let timer = setTimeout(check, afterMs);
  return () => {
    hasAnswer = true;
    clearTimeout(timer);
  };
}

/**
 * Whether the server runs a statement for the session with this process id. Behind a pooler the id is unknown (null), and
 * any answer counts.
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
