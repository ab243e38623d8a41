import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../tests/support/test-database.ts';
import { createLog } from '../main/log.ts';
import { type Bell, createBell } from './bell.ts';
import { closeDatabase, type Database, openDatabase } from './pool.ts';
import { run } from './query.ts';
import { sql } from './sql.ts';

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase({ connectionString: database.connectionString });
});
afterAll(async () => {
  await closeDatabase(db);
  await database.drop();
});

const bells: Bell[] = [];
afterEach(async () => {
  await Promise.all(bells.splice(0).map((bell) => bell.stop()));
});

type Heard = [kind: 'conversation' | 'run' | 'credential', id: string | null];

async function hang(options: { db?: Database } = {}) {
  const { connectionString } = database;
  const bell = await createBell({ db: options.db ?? db, connectionString, log: createLog('silent') });
  bells.push(bell);
  const heard: Heard[] = [];
  for (const kind of ['conversation', 'run', 'credential'] as const) bell.on(kind, (id) => heard.push([kind, id]));
  return { bell, heard };
}

const soon = (look: () => void) => vi.waitFor(look, { timeout: 30_000, interval: 10 });

describe('the bell', () => {
  it('is heard by the other processes, each ring once, and of runs and credentials at once by its own', async () => {
    const a = await hang();
    const b = await hang();
    a.bell.ring('conversation', 'conv_1');
    a.bell.ring('conversation', 'conv_1');
    a.bell.ring('run', 'turn_1');
    a.bell.ring('credential', 'key_1');
    // The followers of the ringing process have been handed the entries themselves.
    expect(a.heard).toEqual([
      ['run', 'turn_1'],
      ['credential', 'key_1'],
    ]);
    await soon(() =>
      expect(b.heard).toEqual([
        ['conversation', 'conv_1'],
        ['run', 'turn_1'],
        ['credential', 'key_1'],
      ]),
    );
    b.bell.ring('conversation', 'conv_2');
    await soon(() => expect(a.heard).toContainEqual(['conversation', 'conv_2']));
    expect(a.heard).toHaveLength(3);
  });

  it('carries more ids than one notification holds', async () => {
    const [a, b] = [await hang(), await hang()];
    const ids = Array.from({ length: 1_000 }, (_, at) => `conv_${String(at).padStart(24, '0')}`);
    for (const id of ids) a.bell.ring('conversation', id);
    await soon(() => expect(b.heard.map(([, id]) => id)).toEqual(ids));
  });

  it('says that anything may have happened after its line was cut', async () => {
    const { heard } = await hang();
    await cutLines();
    await soon(() =>
      expect(heard).toEqual([
        ['conversation', null],
        ['run', null],
        ['credential', null],
      ]),
    );
    const { bell } = await hang();
    bell.ring('run', 'turn_2');
    await soon(() => expect(heard).toContainEqual(['run', 'turn_2']));
  });

  it('leaves alone what it cannot read', async () => {
    const { heard } = await hang();
    for (const payload of ['', 'no json', '{"from":"x","kind":"later version","ids":["1"]}', '[]', 'null']) {
      await run(db, sql`SELECT pg_notify('vestra_bell', ${payload})`);
    }
    const { bell } = await hang();
    bell.ring('run', 'turn_3');
    await soon(() => expect(heard).toEqual([['run', 'turn_3']]));
  });

  it('rings again where the others could not be told', async () => {
    let failures = 2;
    const failing = Object.assign(Object.create(db) as Database, {
      $client: {
        query: (...given: Parameters<Database['$client']['query']>) =>
          failures-- > 0 ? Promise.reject(new Error('away')) : db.$client.query(...given),
      },
    });
    const a = await hang({ db: failing });
    const b = await hang();
    a.bell.ring('conversation', 'conv_4');
    await soon(() => expect(b.heard).toEqual([['conversation', 'conv_4']]));
    expect(failures).toBeLessThan(0);
  });

  it('sends what is left when it stops', async () => {
    const [a, b] = [await hang(), await hang()];
    a.bell.ring('conversation', 'conv_5');
    await a.bell.stop();
    await soon(() => expect(b.heard).toEqual([['conversation', 'conv_5']]));
  });
});

const cutLines = () =>
  run(
    db,
    sql`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'vestra news listener'`,
  );
