import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { readSecrets } from '@vestra/server/account/secrets/secrets';
import { pruneUnused } from '@vestra/server/engine/files/content';
import type { Manifest } from '@vestra/server/operator/archive/format';
import { readOpening } from '@vestra/server/operator/archive/reader';
import { tarOf } from '@vestra/server/operator/archive/tar-entry.fixture';
import { writeArchive } from '@vestra/server/operator/archive/writer';
import { backup } from '@vestra/server/operator/backup';
import { move } from '@vestra/server/operator/database-transfer';
import { restore } from '@vestra/server/operator/restore';
import { readConfig } from '@vestra/server/platform/config/config';
import { withSession, withSnapshot } from '@vestra/server/platform/db/dump';
import { closeDatabase, openDatabase } from '@vestra/server/platform/db/pool';
import { createDiskStore } from '@vestra/server/platform/files/file-store';
import { createVault, openMasterKeys } from '@vestra/server/platform/secrets/vault';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentServer, startAgentServer } from '../support/agent.ts';
import { query } from '../support/database.ts';
import { runProgram } from '../support/process.ts';
import { call, startTestServer, type TestServer } from '../support/server.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import released from '../upgrades/0.2.0/facts.json' with { type: 'json' };

const key = 'ab'.repeat(32);
const content = Uint8Array.from({ length: 70_000 }, (_, at) => (at * 31) % 256);

const savedHome = `${'0123456789abcdef'.repeat(2)}.home`;

/** Its row is in the backup, and its bytes were removed before the backup came to them. */
const lostHome = `${'fedcba9876543210'.repeat(2)}.home`;

let folder: string;
let server: AgentServer;
let archive: string;
/** Conversations of which each message was answered before the backup began, with how many. */
const answeredBefore = new Map<string, number>();
let waits: { conversationId: string; interactionId: string };
let fileId: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vestra-backup-'));
  // As root, PostgreSQL runs as another user that has to get in.
  await chmod(folder, 0o711);
  server = await startAgentServer({
    env: { VESTRA_DATA_DIR: join(folder, 'first'), OPENAI_COMPATIBLE_PRICE: '3,11', VESTRA_LEASE_SECONDS: '3' },
  });
  archive = join(folder, 'backup.tar');
  await prepare();
  await backUpWhileTurnsRun();
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

async function prepare(): Promise<void> {
  await server.apply({
    name: 'desk',
    memory: 'none',
    tools: [{ function: 'order_paper', description: 'Order paper.', input: { sheets: 'integer' } }],
  });
  await server.call('PUT', '/v1/secrets/SHOP_TOKEN', { body: { value: 'hunter2-of-the-shop' } });
  const form = new FormData();
  form.append('file', new Blob([content]), 'numbers.bin');
  fileId = (await server.call('POST', '/v1/files', { raw: form })).body.id;
  server.script(({ messages }) => {
    const asked = messages.findLastIndex(({ role }) => role === 'user');
    if (messages.slice(asked).some(({ role }) => role === 'tool')) return { text: 'Ordered.' };
    const { text = '' } = messages[asked] as { text?: string };
    return /paper/.test(text)
      ? { calls: [{ name: 'order_paper', arguments: { sheets: 5 } }] }
      : { text: `Yes: ${text}` };
  });
  const conversationId = (await server.call('POST', '/v1/conversations', { body: { message: 'Order paper' } })).body.id;
  const { data } = await server.until(
    `/v1/interactions?conversation_id=${conversationId}`,
    (it) => it.data.length === 1,
  );
  waits = { conversationId, interactionId: data[0].id };
  await createDiskStore(join(folder, 'first/files')).put(server.orgId, savedHome, Buffer.from('a saved home'));
  await query(
    server.connectionString,
    `INSERT INTO computers (org_id, mode, user_key, number, saved_name, saved_sha256, saved_bytes, saved_at)
       SELECT '${server.orgId}', 'test', user_key, 8000 + length(user_key), name, repeat('0', 64), 12, now()
       FROM (VALUES ('kept', '${savedHome}'), ('lost-home', '${lostHome}')) AS saved (user_key, name)`,
  );
  const home = join(folder, 'first/computers/7/home');
  await mkdir(join(home, 'work'), { recursive: true });
  await mkdir(join(folder, 'first/computers/7/sockets'));
  await writeFile(join(home, 'work/notes.txt'), 'kept at home');
  await symlink('/etc/passwd', join(home, 'link'));
}

async function backUpWhileTurnsRun(): Promise<void> {
  let isOver = false;
  const said = new Map<string, number>();
  const talk = async (): Promise<void> => {
    const { id } = (await server.call('POST', '/v1/conversations', { body: {} })).body;
    said.set(id, 0);
    while (!isOver) {
      const { status } = await server.call('POST', `/v1/conversations/${id}/messages`, {
        body: { message: `Message ${said.get(id)}` },
        headers: { prefer: 'wait=60' },
      });
      expect(status).toBe(200);
      said.set(id, (said.get(id) as number) + 1);
    }
  };
  const talking = Promise.all([talk(), talk(), talk()]);
  while (said.size < 3 || Math.min(...said.values()) < 2) await sleep(10);
  for (const [id, count] of said) answeredBefore.set(id, count);
  const made = await admin(['backup', archive, '--json'], 'first', server.connectionString);
  isOver = true;
  await talking;
  expect(made, made.output).toMatchObject({ code: 0 });
  expect(JSON.parse(made.output)).toMatchObject({ file: archive, files: 1, files_missing: 0, master_key_file: null });
}

const admin = (words: string[], machine: string, databaseUrl: string | null, masterKey = key) =>
  runProgram('operator', words, {
    VESTRA_DATA_DIR: join(folder, machine),
    ...(databaseUrl && { DATABASE_URL: databaseUrl }),
    ...(masterKey && { VESTRA_MASTER_KEY: masterKey }),
  });

/** Arguments for running the same command in this process. */
const on = (machine: string, databaseUrl: string, masterKey = key) => ({
  config: readConfig({
    VESTRA_DATA_DIR: join(folder, machine),
    DATABASE_URL: databaseUrl,
    VESTRA_MASTER_KEY: masterKey,
  }),
  progress: { show: () => {}, end: () => {} },
});

/** The server of another machine, on what was restored there. */
const startOn = (machine: string, connectionString: string): Promise<TestServer> =>
  startTestServer({
    env: { ...server.env, VESTRA_DATA_DIR: join(folder, machine), VESTRA_LEASE_SECONDS: '1' },
    beside: { ...server, connectionString },
  });

describe('data that a backup reads', () => {
  it('is not deleted before the backup has ended [OPS-280]', async () => {
    const store = createDiskStore(join(folder, 'first/files'));
    const replaced = `${'ab'.repeat(16)}.home`;
    await store.put(server.orgId, replaced, Buffer.from('replaced by a newer one'));
    await query(
      server.connectionString,
      `INSERT INTO unused_contents (org_id, name, since) VALUES ('${server.orgId}', '${replaced}', now() - interval '2 hours')`,
    );
    const db = await openDatabase({ connectionString: server.connectionString, max: 1 });
    const clear = () => pruneUnused(store)(db, new Date(Date.now() - 3_600_000), 100);
    await withSession(server.connectionString, (client) => withSnapshot(client, 'first', clear));
    expect(await store.has(server.orgId, replaced)).toBe(true);
    await clear();
    expect(await store.has(server.orgId, replaced)).toBe(false);
    await closeDatabase(db);
  });
});

describe('a backup of a server that is at work', () => {
  let database: TestDatabase;
  let second: TestServer;
  beforeAll(async () => {
    database = await createTestDatabase();
    const done = await admin(['restore', archive], 'second', database.connectionString);
    expect(done, done.output).toMatchObject({ code: 0 });
    second = await startOn('second', database.connectionString);
  });
  afterAll(async () => {
    await second.stop();
    await database.drop();
  });

  it('holds each turn that was answered before it, whole [OPS-101]', async () => {
    for (const [id, count] of answeredBefore) {
      const texts: string[] = [];
      let next = '';
      do {
        const { body } = await second.call('GET', `/v1/conversations/${id}/messages?limit=100${next}`);
        texts.push(...body.data.map((message: { text: string }) => message.text));
        next = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`;
      } while (next !== '');
      for (let number = 0; number < count; number++) {
        expect(texts).toEqual(expect.arrayContaining([`Message ${number}`, `Yes: Message ${number}`]));
      }
    }
    const gaps = await query(
      database.connectionString,
      `SELECT conversation_id FROM conversation_events GROUP BY 1 HAVING max(seq) - min(seq) + 1 <> count(*)`,
    );
    const uneven = await query(
      database.connectionString,
      'SELECT transfer_id FROM ledger_entries GROUP BY 1 HAVING sum(amount_micros) <> 0',
    );
    expect({ gaps, uneven }).toEqual({ gaps: [], uneven: [] });
  });

  it('resumes on another machine [OPS-102, OPS-281]', async () => {
    const [id, count] = [...answeredBefore][0] as [string, number];
    const more = await second.call('POST', `/v1/conversations/${id}/messages`, {
      body: { message: 'Are you there?' },
      headers: { prefer: 'wait=60' },
    });
    expect([more.status, count > 0]).toEqual([200, true]);
    const answered = await second.call('POST', `/v1/interactions/${waits.interactionId}/answer`, {
      body: { approve: true, present_user: true },
    });
    expect(answered.status, answered.text).toBe(200);
    const link = (await second.call('GET', `/v1/files/${fileId}`)).body.download_url;
    const downloaded = new Uint8Array(
      await (await fetch(new URL(new URL(link).pathname + new URL(link).search, second.url))).arrayBuffer(),
    );
    expect(downloaded).toEqual(content);
    const home = join(folder, 'second/computers/7/home');
    expect([await readFile(join(home, 'work/notes.txt'), 'utf8'), await readlink(join(home, 'link'))]).toEqual([
      'kept at home',
      '/etc/passwd',
    ]);
    expect(await readdir(join(folder, 'second/computers/7'))).not.toContain('sockets');
    const saved = await createDiskStore(join(folder, 'second/files')).read(server.orgId, savedHome);
    expect(Buffer.from(saved ?? []).toString()).toBe('a saved home');
    // A missing archive lets its computer start empty instead of making it unavailable forever.
    const computers = `SELECT user_key, saved_name, saved_bytes FROM computers WHERE number > 8000 ORDER BY user_key`;
    expect(await query(database.connectionString, computers)).toEqual([
      { user_key: 'kept', saved_name: savedHome, saved_bytes: '12' },
      { user_key: 'lost-home', saved_name: null, saved_bytes: null },
    ]);
    const db = await openDatabase({ connectionString: database.connectionString, max: 1 });
    const vault = createVault(openMasterKeys({ dataDir: '', masterKey: key }));
    const secrets = await readSecrets(db, vault, { orgId: server.orgId, mode: 'test' }, null, ['SHOP_TOKEN']);
    await closeDatabase(db);
    expect(secrets.get('SHOP_TOKEN')).toBe('hunter2-of-the-shop');
  });

  it('is refused a database that has a server, and none is moved from or to it [OPS-106]', async () => {
    const isInUse = /A Vestra server .* uses the database/;
    await expect(restore(on('third', database.connectionString), archive, undefined)).rejects.toThrow(isInUse);
    await expect(move(on('first', server.connectionString), database.connectionString)).rejects.toThrow(isInUse);
  });

  it('is moved to another database and back, and the first stays as it was [OPS-109, OPS-106]', async () => {
    await second.stop();
    const third = await createTestDatabase();
    const before = await countsOf(database.connectionString);
    const again = restore(on('third', database.connectionString), archive, undefined);
    await expect(again).rejects.toThrow(/is not empty \(table \w+\): nothing was changed/);

    const moved = await move(on('second', database.connectionString), 'embedded');
    expect(moved).toMatchObject({ is_embedded: true, to: expect.stringContaining(join(folder, 'second')) });
    const back = await admin(['move', '--to', third.connectionString], 'second', null);
    expect(back, back.output).toMatchObject({ code: 0, output: expect.stringContaining('Set DATABASE_URL to it') });
    expect(await countsOf(third.connectionString)).toEqual(before);
    expect(await countsOf(database.connectionString)).toEqual(before);
    // Numbers that were given out are not given out again.
    const epochs = 'SELECT last_value::int AS at FROM run_epochs';
    expect(await query(third.connectionString, epochs)).toEqual(await query(database.connectionString, epochs));
    second = await startOn('second', third.connectionString);
    const { status } = await second.call('POST', `/v1/conversations/${waits.conversationId}/messages`, {
      body: { message: 'And now?' },
      headers: { prefer: 'wait=60' },
    });
    expect(status).toBe(200);
    await second.stop();
    await third.drop();
  });
});

/** Row count and largest rows of each table, without the pgvector tables, which are rebuilt. */
async function countsOf(connectionString: string): Promise<Record<string, string>> {
  const tables = await query<{ name: string }>(
    connectionString,
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('schema_migrations', 'document_window_vectors')
      ORDER BY 1`,
  );
  const sums = tables.map(
    ({ name }) =>
      `SELECT '${name}' AS name, md5(coalesce(string_agg(t::text, '' ORDER BY t::text), '')) AS sum FROM ${name} t`,
  );
  const rows = await query<{ name: string; sum: string }>(connectionString, sums.join(' UNION ALL '));
  return Object.fromEntries(rows.map(({ name, sum }) => [name, sum]));
}

describe('a backup that must not be restored', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  const restored = (path: string, masterKey = key) =>
    restore(on('untouched', database.connectionString, masterKey), path, undefined);

  /** Nothing was begun: the schema of the template is there, without a row, and no folder was made. */
  async function expectUntouched(): Promise<void> {
    const marks = await query(database.connectionString, `SELECT FROM schema_migrations WHERE name = 'unfinished'`);
    const orgs = await query(database.connectionString, 'SELECT FROM orgs');
    const made = await stat(join(folder, 'untouched')).catch(() => null);
    expect({ marks, orgs, made }).toEqual({ marks: [], orgs: [], made: null });
  }

  it('is one that is cut off, changed or no backup, and nothing is written [OPS-104]', async () => {
    const bytes = await readFile(archive);
    const at = (name: string) => bytes.indexOf(name);
    const damages: [string, Buffer][] = [
      ['the end is cut off', bytes.subarray(0, bytes.length - 2_048)],
      ['half of it is cut off', bytes.subarray(0, bytes.length / 2)],
      ['a row is changed', flipped(bytes, at('messages.copy.gz') + 700)],
      ['a file is changed', flipped(bytes, bytes.indexOf(content.subarray(0, 100)) + 5_000)],
      ['a name is changed', flipped(bytes, at('messages.copy.gz'))],
      ['the manifest is changed', flipped(bytes, bytes.lastIndexOf('"rows"') + 8)],
      ['the opening is changed', flipped(bytes, at('"version"') + 13)],
      ['nothing is in it', Buffer.alloc(0)],
      ['it is something else', Buffer.from('PK\u0003\u0004'.repeat(600))],
    ];
    const path = join(folder, 'damaged.tar');
    for (const [what, damaged] of damages) {
      await writeFile(path, damaged);
      await expect(restored(path), what).rejects.toThrow(/is not whole|is neither a backup/);
    }
    await expect(restored(join(folder, 'nowhere.tar'))).rejects.toThrow(/cannot be read \(ENOENT\)/);
    await expectUntouched();
  });

  it('is one whose names or homes lead elsewhere, and nothing is written [HRD-702]', async () => {
    const opening = await readOpening(archive);
    const path = join(folder, 'hostile.tar');
    const withPart = (name: string, bytes: Buffer) =>
      writeArchive(path, opening, async (writer) => {
        const part = await writer.addStream(name, Readable.from([bytes]));
        return { ...nothing, parts: [...nothing.parts, part] };
      });
    for (const name of ['saved/../master-key', 'files/../x', '/etc/cron.d/x', 'database/../x.copy.gz', 'else']) {
      await withPart(name, Buffer.from('x'));
      await expect(restored(path), name).rejects.toThrow(
        /is refused: no archive has a part with the name ".*Nothing was/,
      );
    }
    await withPart('computers.tar.gz', gzipSync(tarOf({ name: './1/home/zero', kind: '3' })));
    await expect(restored(path)).rejects.toThrow(/is refused: the homes of computers hold ".\/1\/home\/zero"/);
    await withPart('computers.tar.gz', Buffer.from('no gzip'));
    await expect(restored(path)).rejects.toThrow(/cannot be unpacked/);
    await expectUntouched();
  });

  it('is one whose master key differs or is missing [OPS-105, OPS-103]', async () => {
    await expect(restored(archive, 'cd'.repeat(32))).rejects.toThrow(/not the master key/);
    await expect(restored(archive, '')).rejects.toThrow(/does not hold the master key/);
    await expectUntouched();
    expect((await readFile(archive)).includes(key)).toBe(false);
    const keyFile = join(folder, 'key');
    await backup(on('first', server.connectionString), folder, keyFile);
    expect([(await stat(keyFile)).mode & 0o777, await readFile(keyFile, 'utf8')]).toEqual([0o600, `${key}\n`]);
    await expect(backup(on('first', server.connectionString), archive, undefined)).rejects.toThrow(/is there already/);
  });

  it('is one of a newer version, by its migrations or by its form [OPS-107]', async () => {
    const opening = await readOpening(archive);
    const migrations = [...opening.migrations, { name: '9999-of-the-future.sql', sha256: 'x' }];
    const newer = join(folder, 'newer.tar');
    await writeArchive(newer, { ...opening, version: '7.3.1', migrations }, async () => nothing);
    await expect(restored(newer)).rejects.toThrow(/created by Vestra 7\.3\.1, and this is Vestra \d+\.\d+\.\d+/);
    const strange = join(folder, 'strange.tar');
    await writeArchive(strange, { ...opening, format: 2, version: '7.3.1' }, async () => nothing);
    await expect(restored(strange)).rejects.toThrow(/Vestra 7\.3\.1 in a form that this version cannot read/);
    await expectUntouched();
  });

  it('is not one for an empty target: the folder is created and the key placed in it [OPS-102]', async () => {
    const bare = join(folder, 'bare.tar');
    await writeArchive(bare, await readOpening(archive), async () => nothing);
    const keyFile = join(import.meta.dirname, '../upgrades/0.2.0/master-key');
    await restore(on('bare', database.connectionString, ''), bare, keyFile);
    const kept = join(folder, 'bare/master-key');
    expect([await readFile(kept, 'utf8'), (await stat(kept)).mode & 0o777]).toEqual([
      await readFile(keyFile, 'utf8'),
      0o600,
    ]);
  });

  it('a restore that was killed leaves what no server starts on, and is run again; an older version is brought up [OPS-107, OPS-108]', async () => {
    const child = startRestore();
    const isBegun = async () =>
      (await query(database.connectionString, `SELECT FROM pg_tables WHERE tablename = 'schema_migrations'`)).length >
        0 &&
      (await query(database.connectionString, `SELECT FROM schema_migrations WHERE name = 'unfinished'`)).length > 0;
    await expect.poll(isBegun, { interval: 5, timeout: 30_000 }).toBe(true);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const started = startOn('fourth', database.connectionString);
    await expect(started).rejects.toThrow(/did not finish: run the same vestra admin restore/);

    expect(await once(startRestore(), 'exit')).toEqual([0, null]);
    const fourth = await startTestServer({
      env: { ...server.env, VESTRA_DATA_DIR: join(folder, 'fourth'), VESTRA_MASTER_KEY: '' },
      beside: { ...server, connectionString: database.connectionString },
    });
    const { status } = await call(fourth.url, released.credentials.live_key, 'GET', '/v1/me', {});
    await fourth.stop();
    expect(status).toBe(200);
  });

  /** Of version 0.2.0. */
  function startRestore(): ChildProcess {
    const entry = join(import.meta.dirname, '../../packages/server/src/operator/main.ts');
    const fixture = join(import.meta.dirname, '../upgrades/0.2.0');
    const words = ['restore', join(fixture, 'backup.tar'), '--master-key-file', join(fixture, 'master-key')];
    return spawn(process.execPath, [entry, ...words], {
      env: {
        PATH: process.env.PATH,
        VESTRA_DATA_DIR: join(folder, 'fourth'),
        DATABASE_URL: database.connectionString,
      },
      stdio: 'ignore',
    });
  }
});

const nothing: Manifest = {
  tables: [],
  sequences: [],
  files: { count: 0, bytes: 0, missing: 0 },
  key_check: null,
  parts: [],
};

function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] as number) ^ 1;
  return copy;
}
