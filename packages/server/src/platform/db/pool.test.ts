import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../../tests/support/test-database.ts';
import { closeDatabase, type Database, openDatabase } from './pool.ts';
import { one, rowsOf, run } from './query.ts';
import { sql, sqlState } from './sql.ts';
import { StartFailure } from './start-failure.ts';
import { integer, text } from './table.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

async function opened<T>(work: (db: Database) => Promise<T>, max?: number): Promise<T> {
  const db = await openDatabase({ connectionString: database.connectionString, ...(max && { max }) });
  try {
    return await work(db);
  } finally {
    await closeDatabase(db);
  }
}

describe('an open database', () => {
  test('answers queries under the name vestra', async () => {
    const name = sql`SELECT current_setting('application_name') AS name`;
    expect(await opened((db) => one(db, { name: text() }, name))).toEqual({ name: 'vestra' });
  });

  test('is opened by a process that was too busy to read the answer in time [FOV-704]', async () => {
    const opening = openDatabase({ connectionString: database.connectionString, connectWithinMs: 1_000 });
    await new Promise(setImmediate);
    // As a start on an overloaded machine, which reads modules all the time.
    for (const until = performance.now() + 2_000; performance.now() < until; );
    await closeDatabase(await opening);
  });

  test('ends a transaction that is left open', async () => {
    const timeout = { idle_in_transaction_session_timeout: text() };
    const shown = await opened((db) => one(db, timeout, sql`SHOW idle_in_transaction_session_timeout`));
    expect(shown).toEqual({ idle_in_transaction_session_timeout: '1min' });
  });

  test('turns JIT compilation off [MANY-280]', async () => {
    // The default of most distributions, whatever PostgreSQL the tests use.
    await runOutside(database, (client) => client.query(`ALTER DATABASE "${nameOf(database)}" SET jit = on`));
    expect(await opened((db) => one(db, { jit: text() }, sql`SHOW jit`))).toEqual({ jit: 'off' });
  });

  test('survives the loss of idle and busy connections', async () => {
    await opened(async (db) => {
      const inUse = await db.$client.connect();
      const idle = await db.$client.connect();
      const pids = await Promise.all([pidOf(inUse), pidOf(idle)]);
      idle.release();
      await runOutside(database, (client) => client.query('SELECT pg_terminate_backend(unnest($1::int[]))', [pids]));
      await expect(inUse.query('SELECT 1')).rejects.toThrow();
      inUse.release();
      while (db.$client.totalCount > 0) await sleep(5);
      expect(await rowsOf(db, { one: integer() }, sql`SELECT 1 AS one`)).toEqual([{ one: 1 }]);
    });
  });

  test('fails a query that waits too long for a free connection', async () => {
    await opened(async (db) => {
      const held = await db.$client.connect();
      db.$client.options.connectionTimeoutMillis = 50;
      await expect(db.$client.query('SELECT 1')).rejects.toThrow('timeout exceeded when trying to connect');
      held.release();
      expect((await db.$client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    }, 1);
  });

  test('exposes the SQLSTATE of a failed statement', async () => {
    const error = await opened((db) => run(db, sql`SELECT 1 / 0`).catch((failure: unknown) => failure));
    expect(sqlState(error)).toBe('22012');
    expect(sqlState(Object.assign(new Error('write'), { code: 'EPIPE' }))).toBeUndefined();
  });
});

describe('an unusable database is reported in one sentence', () => {
  const failureOf = async (connectionString: string): Promise<string> => {
    const failure = await openDatabase({ connectionString }).then(
      (db) => closeDatabase(db),
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(StartFailure);
    const { message } = failure as StartFailure;
    expect(message).not.toContain('\n');
    expect(message).not.toContain(new URL(database.connectionString).password);
    return message;
  };

  const changed = (change: (url: URL) => void): string => {
    const url = new URL(database.connectionString);
    change(url);
    return url.href;
  };

  test.each(['', 'nonsense', 'mysql://root@localhost/db', 'postgresql://h:99999/db'])(
    'for %j, which is not an address',
    async (connectionString) => {
      expect(await failureOf(connectionString)).toContain('DATABASE_URL is not a PostgreSQL address');
    },
  );

  test('for an invalid address, without its password', async () => {
    expect(await failureOf('postgresql://user:hunter2%zz@host:99999/db')).not.toContain('hunter2');
  });

  test('for a port without a listener', async () => {
    const free = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => free.once('listening', resolve));
    const { port } = free.address() as { port: number };
    await new Promise((resolve) => free.close(resolve));
    expect(await failureOf(`postgresql://user:hunter2@127.0.0.1:${port}/db`)).toBe(
      `No PostgreSQL answers at 127.0.0.1:${port}: start it there, or correct DATABASE_URL.`,
    );
  });

  test('for a program that is not PostgreSQL', async () => {
    const other = createServer((socket) => socket.once('data', () => socket.end())).listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as { port: number };
    expect(await failureOf(`postgresql://user:hunter2@127.0.0.1:${port}/db`)).toContain(`"db" at 127.0.0.1:${port}`);
    await new Promise((resolve) => other.close(resolve));
  });

  test('for a host without an address', async () => {
    expect(await failureOf('postgresql://user:hunter2@database.invalid/db')).toContain('database.invalid:5432');
  });

  test('for a wrong password', async () => {
    const message = await failureOf(
      changed((url) => {
        url.password = 'hunter2';
      }),
    );
    expect(message).toContain('does not accept the password of user "vestra"');
    expect(message).not.toContain('hunter2');
  });

  test('for a missing password', async () => {
    expect(
      await failureOf(
        changed((url) => {
          url.password = '';
        }),
      ),
    ).toContain('DATABASE_URL has none');
  });

  test('for an unknown database', async () => {
    expect(
      await failureOf(
        changed((url) => {
          url.pathname = '/nowhere';
        }),
      ),
    ).toContain('has no database "nowhere"');
  });

  test('for a certificate file that does not exist', async () => {
    expect(await failureOf('postgresql://u:p@localhost/db?sslrootcert=/nowhere/ca.pem')).toContain('/nowhere/ca.pem');
  });

  test('for an encoding other than UTF8', async () => {
    await runOutside(database, (client) =>
      client.query(`CREATE DATABASE latin_only ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0`),
    );
    const message = await failureOf(
      changed((url) => {
        url.pathname = '/latin_only';
      }),
    );
    await runOutside(database, (client) => client.query('DROP DATABASE latin_only'));
    expect(message).toContain(`is encoded as LATIN1: create it with ENCODING 'UTF8'`);
  });

  test('for a read-only database', async () => {
    const message = await failureOf(
      changed((url) => {
        url.searchParams.set('options', '-c default_transaction_read_only=on');
      }),
    );
    expect(message).toContain('is read-only');
  });

  test('for a server that is too old', async () => {
    const old = await startOldServer();
    expect(await failureOf(`postgresql://user:hunter2@127.0.0.1:${old.port}/db`)).toBe(
      `The database "db" at 127.0.0.1:${old.port} is PostgreSQL 14, and Vestra needs 15 or newer.`,
    );
    await old.close();
  });
});

const nameOf = ({ connectionString }: TestDatabase) => new URL(connectionString).pathname.slice(1);

async function pidOf(client: pg.PoolClient): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid ?? 0;
}

async function runOutside<T>(where: TestDatabase, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: where.connectionString });
  await client.connect();
  return work(client).finally(() => client.end());
}

/** Speaks just enough of the protocol to report an old version. */
async function startOldServer(): Promise<{ port: number; close(): Promise<unknown> }> {
  const message = (type: string, ...parts: Buffer[]): Buffer => {
    const body = Buffer.concat(parts);
    const head = Buffer.alloc(5);
    head.write(type);
    head.writeInt32BE(body.length + 4, 1);
    return Buffer.concat([head, body]);
  };
  const int16 = (value: number): Buffer => {
    const buffer = Buffer.alloc(2);
    buffer.writeInt16BE(value);
    return buffer;
  };
  const int32 = (value: number): Buffer => {
    const buffer = Buffer.alloc(4);
    buffer.writeInt32BE(value);
    return buffer;
  };
  const column = (name: string, type: number): Buffer =>
    Buffer.concat([Buffer.from(`${name}\0`), int32(0), int16(0), int32(type), int16(-1), int32(-1), int16(0)]);
  const value = (text: string): Buffer => Buffer.concat([int32(text.length), Buffer.from(text)]);
  const ready = message('Z', Buffer.from('I'));

  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(Buffer.concat([message('R', int32(0)), ready]));
      socket.on('data', (data) => {
        if (data[0] === 'X'.charCodeAt(0)) return socket.end();
        socket.write(
          Buffer.concat([
            message('T', int16(3), column('version', 23), column('encoding', 25), column('read_only', 16)),
            message('D', int16(3), value('140012'), value('UTF8'), value('f')),
            message('C', Buffer.from('SELECT 1\0')),
            ready,
          ]),
        );
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    port: (server.address() as { port: number }).port,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}
