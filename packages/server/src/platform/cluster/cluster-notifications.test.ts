import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../../tests/support/test-database.ts';
import { type NotifyListener, openNotifyListener } from '../db/notify-listener.ts';
import { closeDatabase, type Database, openDatabase } from '../db/pool.ts';
import { run } from '../db/query.ts';
import { sql } from '../db/sql.ts';
import {
  type ClusterNotifications,
  createClusterNotifications,
  createPresence,
  notifying,
} from './cluster-notifications.ts';

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

const hung: { processNews: ClusterNotifications; line: NotifyListener }[] = [];
afterEach(async () => {
  for (const { processNews, line } of hung.splice(0)) {
    await processNews.stop();
    await line.close();
  }
});

type Heard = [kind: 'conversation' | 'run' | 'credential', id: string | null];

/** A process knows after a quarter of this that it is alone, and forgets another after three times this. */
const helloMs = 500;
/** Long enough to drop a notification between two hellos. */
const slowly = 3_000;

/** The notifications of one process. `sent` records its NOTIFY payloads. */
async function hang(options: { helloMs?: number | undefined; through?: (channel: string) => void } = {}) {
  const lost = Promise.withResolvers<void>();
  const log = pino({ level: 'warn' }, { write: (line) => line.includes('lost the connection') && lost.resolve() });
  const sent: { kind?: string; held_back?: boolean; ids?: string[] }[] = [];
  const tell = notifying(db);
  const notify = async (channel: string, payload: string) => {
    options.through?.(channel);
    await tell(channel, payload);
    sent.push(JSON.parse(payload));
  };
  const line = await openNotifyListener({ connectionString: database.connectionString, log });
  const processNews = await createClusterNotifications({ db, line, log, helloMs: options.helloMs, notify });
  hung.push({ processNews, line });
  const heard: Heard[] = [];
  for (const kind of ['conversation', 'run', 'credential'] as const)
    processNews.on(kind, (id) => heard.push([kind, id]));
  const notified = () => sent.flatMap(({ ids }) => ids ?? []);
  /** Notifies with new ids until several in a row were dropped: a single one may only be late. */
  const untilAlone = async () => {
    for (let at = 0, kept = 0; kept < 4; at++) {
      processNews.notify('conversation', `conv_alone_${at}`);
      await sleep(50);
      kept = notified().includes(`conv_alone_${at}`) ? 0 : kept + 1;
    }
  };
  return { processNews, heard, sent, notified, untilAlone, lost: lost.promise };
}

const anything: Heard[] = [
  ['conversation', null],
  ['run', null],
  ['credential', null],
];

const soon = (look: () => void) => vi.waitFor(look, { timeout: 30_000, interval: 10 });

describe('cluster notifications', () => {
  it('reach other processes once, and listeners of runs and credentials in the same process at once', async () => {
    const a = await hang();
    const b = await hang();
    a.processNews.notify('conversation', 'conv_1');
    a.processNews.notify('conversation', 'conv_1');
    a.processNews.notify('run', 'turn_1');
    a.processNews.notify('credential', 'key_1');
    // Followers in the sending process get the entries directly.
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
    b.processNews.notify('conversation', 'conv_2');
    await soon(() => expect(a.heard).toContainEqual(['conversation', 'conv_2']));
    expect(a.heard).toHaveLength(3);
  });

  it('split more ids than fit into one NOTIFY', async () => {
    const [a, b] = [await hang(), await hang()];
    const ids = Array.from({ length: 1_000 }, (_, at) => `conv_${String(at).padStart(24, '0')}`);
    for (const id of ids) a.processNews.notify('conversation', id);
    await soon(() => expect(b.heard.map(([, id]) => id)).toEqual(ids));
  });

  it('report a possible change of everything after the connection was cut', async () => {
    const { heard } = await hang();
    await cutLines();
    await soon(() => expect(heard).toEqual(anything));
    const { processNews } = await hang();
    processNews.notify('run', 'turn_2');
    await soon(() => expect(heard).toContainEqual(['run', 'turn_2']));
  });

  it('ignore payloads that cannot be parsed', async () => {
    const { heard } = await hang();
    for (const payload of ['', 'no json', '{"from":"x","kind":"later version","ids":["1"]}', '[]', 'null']) {
      await run(db, sql`SELECT pg_notify('vestra_bell', ${payload})`);
    }
    const { processNews } = await hang();
    processNews.notify('run', 'turn_3');
    await soon(() => expect(heard).toEqual([['run', 'turn_3']]));
  });

  it('are retried if NOTIFY fails', async () => {
    let failures = 2;
    const a = await hang({
      through: (channel) => {
        if (channel === 'vestra_bell' && failures-- > 0) throw new Error('away');
      },
    });
    const b = await hang();
    a.processNews.notify('conversation', 'conv_4');
    await soon(() => expect(b.heard).toEqual([['conversation', 'conv_4']]));
    expect(failures).toBeLessThan(0);
  });

  it('are flushed by stop', async () => {
    const [a, b] = [await hang(), await hang()];
    a.processNews.notify('conversation', 'conv_5');
    await a.processNews.stop();
    await soon(() => expect(b.heard).toEqual([['conversation', 'conv_5']]));
  });
});

describe('a process that is alone', () => {
  it('sends nothing, and a new process learns that notifications were dropped and gets all later ones', async () => {
    const a = await hang({ helloMs: slowly });
    await a.untilAlone();
    const before = a.notified().length;
    a.processNews.notify('run', 'turn_kept');
    await sleep(60);
    // Its own listeners are notified anyway.
    expect(a.heard).toEqual([['run', 'turn_kept']]);
    const b = await hang({ helloMs });
    await soon(() => expect(b.heard).toEqual(anything));
    // This process has missed nothing: the other sent everything since its connection came up.
    expect(a.heard).toEqual([['run', 'turn_kept']]);
    expect(a.notified()).toHaveLength(before);
    a.processNews.notify('conversation', 'conv_1');
    b.processNews.notify('run', 'turn_1');
    await soon(() => expect(b.heard).toContainEqual(['conversation', 'conv_1']));
    await soon(() => expect(a.heard).toContainEqual(['run', 'turn_1']));
    const c = await hang({ helloMs });
    a.processNews.notify('conversation', 'conv_2');
    b.processNews.notify('conversation', 'conv_3');
    const third: Heard[] = [
      ['conversation', 'conv_2'],
      ['conversation', 'conv_3'],
    ];
    await soon(() => expect(c.heard.toSorted()).toEqual(third));
  });

  it('loses nothing while another process starts', async () => {
    const a = await hang({ helloMs });
    await a.untilAlone();
    // The row is written before the notification and read after each notification about it.
    let written = 0;
    const writing = setInterval(() => a.processNews.notify('conversation', `conv_${++written}`), 3);
    const b = await hang({ helloMs });
    let seen = 0;
    b.processNews.on('conversation', () => {
      seen = written;
    });
    await soon(() => expect(b.sent.length).toBeGreaterThan(0));
    await sleep(100);
    clearInterval(writing);
    const last = written;
    await soon(() => expect(seen).toBe(last));
  });

  it('sends again after a hello from a process that it had forgotten', async () => {
    const a = await hang({ helloMs });
    // It sends its first hello and then, like a frozen process, no more.
    const b = await hang({ helloMs: 3_600_000 });
    await a.untilAlone();
    const kept = a.notified().length;
    const before = b.heard.length;
    a.processNews.notify('credential', 'key_kept');
    await sleep(60);
    expect(a.notified()).toHaveLength(kept);
    await run(
      db,
      sql`
      SELECT pg_notify('vestra_hello', '{"from":"the one that stood still","asks":false,"held_back":false}')`,
    );
    // The reply, which all processes receive.
    await soon(() => expect(b.heard.slice(before)).toEqual(expect.arrayContaining(anything)));
    a.processNews.notify('run', 'turn_heard');
    await soon(() => expect(b.heard).toContainEqual(['run', 'turn_heard']));
  });

  it('sends while its own connection is down', async () => {
    const a = await hang({ helloMs });
    await a.untilAlone();
    await cutLines();
    await a.lost;
    a.processNews.notify('run', 'turn_down');
    await soon(() => expect(a.notified()).toContain('turn_down'));
  });

  it('asks for hellos after a reconnect', async () => {
    const a = await hang({ helloMs: 1_000 });
    // It knows the other process and has no reason to send a hello.
    const b = await hang({ helloMs: 3_600_000 });
    await cutLines(1);
    await soon(() => expect(a.heard).toEqual(anything));
    await sleep(400);
    a.processNews.notify('run', 'turn_up');
    await soon(() => expect(b.heard.at(-1)).toEqual(['run', 'turn_up']));
    expect(b.heard).toHaveLength(1);
  });

  it('is not alone beside a process of version 0.1, which sends no hello', async () => {
    const older = new pg.Client({
      connectionString: database.connectionString,
      application_name: 'vestra news listener',
    });
    await older.connect();
    try {
      const told: string[] = [];
      older.on('notification', ({ payload }) => told.push(payload ?? ''));
      await older.query('LISTEN vestra_bell');
      const a = await hang({ helloMs });
      await sleep(2 * helloMs);
      a.processNews.notify('conversation', 'conv_older');
      await soon(() => expect(told.join()).toContain('conv_older'));
      await sleep(2 * helloMs);
      // It must not log a warning.
      expect(told.filter((each) => each.includes('held_back'))).toEqual([]);
      await run(db, sql`SELECT pg_notify('vestra_bell', '{"from":"older","kind":"run","ids":["turn_older"]}')`);
      await soon(() => expect(a.heard).toContainEqual(['run', 'turn_older']));
    } finally {
      await older.end();
    }
  });

  it('gets another hello after a short database outage', async () => {
    const a = await hang({ helloMs: slowly });
    await a.untilAlone();
    a.processNews.notify('run', 'turn_kept');
    await sleep(60);
    let failures = 1;
    const b = await hang({
      helloMs,
      through: (channel) => {
        if (channel === 'vestra_hello' && failures-- > 0) throw new Error('away');
      },
    });
    await soon(() => expect(b.heard).toEqual(anything));
    expect(failures).toBeLessThanOrEqual(0);
  });
});

/** The oldest first. */
const cutLines = (count = 100) =>
  run(
    db,
    sql`
    SELECT pg_terminate_backend(pid) FROM (
      SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'vestra listener'
      ORDER BY backend_start LIMIT ${count}
    ) AS lines`,
  );

const start = () => {
  const clock = { ms: 0 };
  const presence = createPresence('me', 20_000, () => clock.ms);
  return { clock, presence };
};

it('presence: a process is alone only if its connection is up, replies had time, and its own hello came back', () => {
  const { clock, presence } = start();
  expect(presence.isAlone()).toBe(false);
  presence.up();
  clock.ms = 5_000;
  // Nothing arrived at all, so the connection may deliver nothing.
  expect(presence.isAlone()).toBe(false);
  presence.seen('me');
  expect(presence.isAlone()).toBe(true);
  presence.down();
  expect(presence.isAlone()).toBe(false);
  presence.up();
  presence.seen('me');
  clock.ms = 9_999;
  expect(presence.isAlone()).toBe(false);
  clock.ms = 10_000;
  expect(presence.isAlone()).toBe(true);
});

it('presence: forgets processes after a minute of silence, including itself', () => {
  const { clock, presence } = start();
  presence.up();
  expect([presence.seen('me'), presence.seen('other'), presence.seen('other')]).toEqual([true, true, false]);
  clock.ms = 30_000;
  presence.seen('me');
  clock.ms = 60_000;
  expect(presence.isAlone()).toBe(false);
  clock.ms = 60_001;
  expect(presence.isAlone()).toBe(true);
  expect(presence.seen('other')).toBe(true);
  expect(presence.isAlone()).toBe(false);
  // The process itself was frozen: it must first receive the backlog, with its own hello last.
  clock.ms = 600_000;
  expect(presence.isAlone()).toBe(false);
});

it('presence: counts the processes that run tasks, and only itself while its connection is down [OPS-746]', () => {
  const { clock, presence } = start();
  presence.up();
  presence.seen('me', true);
  presence.seen('worker', true);
  presence.seen('api', false);
  // Notifications do not say what their sender does.
  presence.seen('api');
  expect(presence.countWorkers()).toBe(2);
  clock.ms = 60_001;
  presence.seen('me', true);
  expect(presence.countWorkers()).toBe(1);
  presence.seen('worker', true);
  presence.down();
  expect(presence.countWorkers()).toBe(1);
});
