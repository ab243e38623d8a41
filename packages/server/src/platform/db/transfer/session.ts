import pg from 'pg';
import { ADVISORY_LOCK } from '../migrate.ts';
import { assertUsable } from '../pool.ts';
import { StartFailure } from '../start-failure.ts';

/** One connection for as long as an operator's command takes. */
export async function withSession<Result>(
  connectionString: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  await assertUsable(connectionString);
  const client = new pg.Client({
    connectionString,
    application_name: OWN_NAME,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  });
  // The query in flight is rejected by itself; without a listener the whole process would end.
  client.on('error', () => {});
  await client.connect();
  try {
    // A table may take longer than whatever is usual for a statement of this role.
    await client.query('SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; SET lock_timeout = 0');
    return await work(client);
  } catch (error) {
    throw explained(error);
  } finally {
    await client.end().catch(() => {});
  }
}

const OWN_NAME = 'vestra admin';

/** No room, no right, a connection that went: what PostgreSQL says of it is what the operator has to know. */
function explained(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError) && !/^Connection terminated/.test((error as Error).message)) return error;
  return new StartFailure(`PostgreSQL did not go along: ${(error as Error).message}.`, { cause: error });
}

/**
 * Keeps servers away from this database for as long as the session lasts: one that starts waits, and where one runs
 * already this is refused. The lock comes first, so that none slips in behind the look.
 */
export async function keepServersAway(client: pg.Client, what: string): Promise<void> {
  const { rows: locks } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [
    ADVISORY_LOCK,
  ]);
  const { rows: servers } = await client.query(
    `SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE 'vestra%' AND application_name <> $1 LIMIT 1`,
    [OWN_NAME],
  );
  if (locks[0]?.taken && servers.length === 0) return;
  throw new StartFailure(
    `A Vestra server or another command uses ${what} right now: stop every server on it, and try again.`,
  );
}
