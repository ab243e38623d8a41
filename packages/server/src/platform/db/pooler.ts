import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import pg from 'pg';
import { StartFailure } from './start-failure.ts';

/** What is known of a connection pooler between this process and the database. `kind` null: it is found out. */
export type Pooler = { kind: 'transaction' | 'session' | null; directUrl: string | null };

/** Whom the server says it speaks with. A pooler makes up an id of its own, the server's is another. */
export const processIdOf = (client: pg.Client): number => (client as unknown as { processID: number }).processID;

const withinMs = 5_000;
const looks = 3;

/**
 * Whether a pooler gives the sessions of the server away between transactions. Two connections that are open at once would
 * have two sessions for good; here one meets the session of the other, or another one than before.
 */
export async function isShared(connectionString: string): Promise<boolean> {
  const [one, other] = await Promise.all([open(connectionString), open(connectionString)]);
  try {
    const first = await sessionOf(one);
    for (let look = 0; look < looks; look++) {
      await other.query('BEGIN');
      // Before the other is asked: where there is one session for all, it would wait for this transaction.
      if ((await sessionOf(other)) === first) return true;
      if ((await sessionOf(one)) !== first) return true;
      await other.query('ROLLBACK');
    }
    return false;
  } finally {
    await Promise.all([one, other].map(end));
  }
}

/** What is notified through the pooler must be heard beside it, or processes would not hear of each other. */
export async function assertSameDatabase(of: { connectionString: string; directUrl: string }): Promise<void> {
  if (await isShared(of.directUrl)) {
    throw new StartFailure(
      'DATABASE_DIRECT_URL leads through a connection pooler in transaction mode too: let it name the database itself.',
    );
  }
  const [through, beside] = await Promise.all([open(of.connectionString), open(of.directUrl)]);
  try {
    const channel = `vestra_${randomUUID()}`;
    await beside.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
    const heard = once(beside, 'notification', { signal: AbortSignal.timeout(withinMs) });
    heard.catch(() => {});
    await through.query('SELECT pg_notify($1, $2)', [channel, '']);
    await heard;
  } catch (error) {
    if ((error as Error).name !== 'AbortError') throw error;
    throw new StartFailure(
      'What is notified at DATABASE_URL is not heard at DATABASE_DIRECT_URL: both must name the same database of the same server.',
    );
  } finally {
    await Promise.all([through, beside].map(end));
  }
}

export const needsDirectUrl = (name: string) =>
  new StartFailure(
    `The database ${name} is reached through a connection pooler in transaction mode, which delivers no notifications and keeps no locks: set DATABASE_DIRECT_URL to the address of the database itself beside it, or let DATABASE_URL name that.`,
  );

async function open(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: withinMs });
  client.on('error', () => {});
  await client.connect();
  return client;
}

async function sessionOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return (rows[0] as { pid: number }).pid;
}

const end = (client: pg.Client) => client.end().catch(() => {});
