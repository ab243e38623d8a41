import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { partsOf, readWhole } from '@vestra/server/operator/archive/reader';
import { movedTables } from '@vestra/server/operator/org-move/tables';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveMcp, tool } from '../../packages/server/src/agents/mcp-client/mcp-server.fixture.ts';
import { query } from '../support/database.ts';
import { rowsWith } from '../support/marked-rows.ts';
import { runProgram, startProgram } from '../support/process.ts';
import { call, startTestServer, type TestServer } from '../support/server.ts';
import { answersOf, idsIn } from '../support/walk-routes.ts';
import { type ComputerDesk, startComputerDesk } from './computer.fixture.ts';
import { calling, inTurn, resultsIn } from './interactions.fixture.ts';
import { oneOfEach } from './one-of-each.fixture.ts';
import { fillEmptyTables, startReceiver } from './org-move.fixture.ts';

const secretValue = 'hunter2-of-the-shop';
const stem = 'quince-lagoon';
const masterKeys = { source: 'ab'.repeat(32), target: 'cd'.repeat(32) };
type Place = keyof typeof masterKeys;

let folder: string;
let source: ComputerDesk;
/** Accepts requests only, so that nothing continues before its answers were compared. */
let target: TestServer;
let targetEnv: Record<string, string>;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
/** Credentials that reached the tool server. */
const credentials = new Set<string>();
let approval: { conversationId: string; id: string };
let routineId: string;
let shopPort: number;
let slowConversation: string;
let slowCalls = 0;
let isHanging = true;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vestra-org-move-'));
  receiver = await startReceiver();
  source = await startComputerDesk({ VESTRA_COMPUTER_IDLE_SECONDS: '2', VESTRA_LEASE_SECONDS: '2' });
  const own = { VESTRA_DATA_DIR: join(folder, 'target'), VESTRA_MASTER_KEY: masterKeys.target };
  targetEnv = { ...source.env, ...own };
  target = await startTestServer({ env: { ...targetEnv, VESTRA_ROLE: 'api' } });
  await makeStory();
  // Entries are added up within seconds, so this table is empty most of the time.
  const { unfolded_entries: _, ...lasting } = movedTables;
  expect(await fillEmptyTables(source, Object.keys(lasting))).toEqual([]);
}, 900_000);
afterAll(async () => {
  await target.stop();
  await source.stop();
  receiver.stop();
  await rm(folder, { recursive: true, force: true });
});

/** The tool server. It ends with each test. */
const serveShop = (port?: number) =>
  serveMcp('2025 with sessions', [tool('find')], {
    ...(port !== undefined && { port }),
    call: () => ({ content: [{ type: 'text', text: 'found' }] }),
    authorize(request) {
      credentials.add(request.headers.get('authorization') ?? '');
      return true;
    },
  });

/** One of everything that the API creates, an open approval, a task in the middle of a model call, and a schedule. */
async function makeStory(): Promise<void> {
  await source.apply({ name: 'desk', instructions: 'Be kind.' });
  const { kinds, done } = oneOfEach(source, receiver.url);
  for (const [kind, make] of Object.entries(kinds)) {
    const name = kind.replaceAll(' ', '-');
    await make(`${stem}-${name}`, `user-${name}`);
  }
  await done('POST', '/v1/memory', { user_id: 'user-buyer', text: 'Collects blue stamps.' });
  await source.commands({ user_id: 'user-buyer' }, 'echo kept-at-home > notes.txt');
  shopPort = Number(new URL((await serveShop()).url).port);
  await done('PUT', '/v1/secrets/SHOP_TOKEN', { value: secretValue });
  const tools = [
    { mcp: `http://127.0.0.1:${shopPort}/mcp`, name: 'shop', auth: '${SHOP_TOKEN}', require_approval: ['find'] },
  ];
  await source.apply({ name: 'shop', instructions: 'Sell.', memory: 'none', tools });
  await done('PUT', '/v1/deployments/shop/function-endpoint', { url: `${receiver.url}/functions` });
  source.script((request) => {
    const { messages, tools: offered } = request;
    const text = JSON.stringify(messages);
    if (/Crawl/.test(text)) {
      slowCalls += 1;
      return isHanging ? new Promise(() => {}) : { text: 'The crawl is done.' };
    }
    if (/home/.test(text))
      return inTurn(calling('run_command', { command: 'cat notes.txt' }), { text: 'Read.' })(request);
    const find = offered.find(({ name }) => name === 'mcp__shop__find');
    return find && messages.at(-1)?.role !== 'tool'
      ? { calls: [{ name: find.name, arguments: {} }] }
      : { text: 'Sold.' };
  });
  const buyer = { user_id: 'user-buyer' };
  const asked = await done('POST', '/v1/conversations', {
    ...buyer,
    deployment: 'shop',
    message: 'Find it.',
    hand_off: 'always',
  });
  const [interaction] = await source.open(asked.id);
  approval = { conversationId: asked.id, id: interaction.id };
  await done('POST', '/v1/webhooks', { url: `${receiver.url}/moved`, events: ['task.completed'] });
  const daily = { ...buyer, name: 'Daily', ask: 'Look.', every: 'day at 08:00', deployment: 'desk' };
  routineId = (await done('POST', '/v1/routines', daily)).id;
  await done('POST', '/v1/sessions', buyer);
  const { id: rolled } = await done('POST', '/v1/keys', { name: 'Rolled', scopes: ['runtime'] });
  await done('POST', `/v1/keys/${rolled}/roll`, {});
  slowConversation = (
    await done('POST', '/v1/conversations', { deployment: 'desk', message: 'Crawl.', hand_off: 'always' })
  ).id;
}

const environmentOf = (place: Place): Record<string, string> => ({
  VESTRA_DATA_DIR: place === 'source' ? source.dataDir : join(folder, 'target'),
  DATABASE_URL: (place === 'source' ? source : target).connectionString,
  VESTRA_MASTER_KEY: masterKeys[place],
});

const admin = (place: Place, ...words: string[]) => runProgram('operator', words, environmentOf(place));

/** The result of a command that must succeed. */
async function done(place: Place, ...words: string[]) {
  const { code, output } = await admin(place, ...words, '--json');
  expect({ words, code, output }).toMatchObject({ code: 0 });
  return JSON.parse(output);
}

const exportTo = (name: string) =>
  done(
    'source',
    'org',
    'export',
    source.orgId,
    join(folder, `${name}.tar`),
    '--key-file',
    join(folder, `${name}.key`),
    '--wait-seconds',
    '1',
  );
const importing = (name: string) => [
  'org',
  'import',
  join(folder, `${name}.tar`),
  '--key-file',
  join(folder, `${name}.key`),
];

const asSource = (server: Pick<TestServer, 'url'>, method: string, path: string, options = {}) =>
  call(server.url, source.testKey, method, path, options);

const countsOf = async ({ connectionString }: { connectionString: string }, orgId: string) => {
  const counts: Record<string, number> = {};
  for (const [table, { rows }] of Object.entries(movedTables)) {
    const [found] = await query<{ count: string }>(
      connectionString,
      `SELECT count(*) FROM ${table} WHERE ${rows.replaceAll('$org', `'${orgId}'`)}`,
    );
    counts[table] = Number(found?.count);
  }
  return counts;
};

/** Differences that an installation may show: its address, its signatures, its clock and its own audit entries. */
const plain = (text: string, server: Pick<TestServer, 'url'>) =>
  text
    .replaceAll(server.url, 'https://here')
    .replaceAll(/"(download_url|download_expires_at|next_cursor|last_used_at|request_id)":("[^"]*"|null)/g, '"$1":"…"');

describe('an org that moves to another installation', () => {
  const placeholder = `receipt_${'0'.repeat(36)}`;

  it('is frozen by an export, and active again after a release [MOVE-702, MOVE-703]', async () => {
    await expect.poll(() => slowCalls).toBe(1);
    const { rows, homes } = await exportTo('first');
    expect({ rows: rows > 800, homes }).toEqual({ rows: true, homes: 4 });
    const refused = await source.call('GET', '/v1/users');
    expect([refused.status, refused.body.error.code, refused.headers.get('retry-after')]).toEqual([
      503,
      'org_moving',
      '30',
    ]);
    // A write that was under way at the moment of the export would be lost.
    await source.sql(`UPDATE users SET name = 'Buyer' WHERE id = 'user-buyer'`);
    const late = await admin('source', 'org', 'hand-over', source.orgId, '--receipt', placeholder);
    expect(late).toMatchObject({ code: 1, output: expect.stringMatching(/written after the export \(users\)/) });
    expect(await done('source', 'org', 'release', source.orgId)).toMatchObject({ released: 'frozen' });
    expect((await source.call('GET', '/v1/users')).status).toBe(200);
    // The parked task continues.
    await expect.poll(() => slowCalls, { timeout: 60_000 }).toBe(2);
  });

  it('has no secret in its archive that can be read without the transport key [MOVE-704]', async () => {
    await exportTo('second');
    const transport = (await readFile(join(folder, 'second.key'), 'utf8')).trim();
    const unreadable = [secretValue, transport, ...Object.values(masterKeys), source.testKey, source.liveKey];
    for await (const { name, content } of partsOf(join(folder, 'second.tar'), {})) {
      const bytes = await readWhole(content);
      const text = (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('latin1');
      expect(
        unreadable.filter(
          (each) => text.includes(each) || text.includes(Buffer.from(each, 'hex').toString('latin1') || '-'.repeat(9)),
        ),
      ).toEqual([]);
    }
  });

  it('is complete after an import that was killed and repeated, and nothing is doubled [MOVE-705, MOVE-706]', async () => {
    const blocker = new pg.Client({ connectionString: target.connectionString });
    await blocker.connect();
    await blocker.query('BEGIN; LOCK TABLE message_feedback IN ACCESS EXCLUSIVE MODE');
    const { child } = await startProgram('operator', importing('second'), environmentOf('target'));
    await expect.poll(() => waitingForLock(), { timeout: 60_000 }).toBe(1);
    await killed(child);
    await blocker.end();
    await expect
      .poll(() => query(target.connectionString, `SELECT FROM orgs WHERE id = '${source.orgId}'`))
      .toEqual([]);
    expect(Object.values(await countsOf(target, source.orgId)).every((count) => count === 0)).toBe(true);

    const first = await done('target', ...importing('second'));
    expect(first).toMatchObject({ org_id: source.orgId, outcome: 'imported' });
    const counts = await countsOf(target, source.orgId);
    // Each member has a separate login there, and holds end by themselves.
    const { reservations: _, ...lasting } = await countsOf(source, source.orgId);
    expect(counts).toMatchObject({ ...lasting, logins: 1, passkeys: 1 });
    expect(await done('target', ...importing('second'))).toEqual({ ...first, outcome: 'imported_before' });
    expect(await countsOf(target, source.orgId)).toEqual(counts);
  });

  it('runs in one installation only, whatever happens in between [MOVE-707, MOVE-708]', async () => {
    expect((await asSource(target, 'GET', '/v1/users')).body.error.code).toBe('org_moving');
    const { receipt } = await done('target', ...importing('second'));
    const activate = (code: string) => admin('target', 'org', 'activate', source.orgId, '--code', code);
    expect(await activate('code_AAAA')).toMatchObject({ code: 1 });
    const { code } = await done('source', 'org', 'hand-over', source.orgId, '--receipt', receipt);
    expect(await done('source', 'org', 'hand-over', source.orgId, '--receipt', receipt)).toMatchObject({ code });
    // The code of a second copy would be another one, and is never signed.
    const second = await admin('source', 'org', 'hand-over', source.orgId, '--receipt', placeholder);
    expect(second).toMatchObject({ code: 1, output: expect.stringMatching(/another import already/) });
    expect(await admin('source', 'org', 'release', source.orgId)).toMatchObject({ code: 1 });
    expect((await source.call('GET', '/v1/users')).body.error.code).toBe('org_moved');
    const changed = `${code.slice(0, -3)}${code.endsWith('AAA') ? 'BBB' : 'AAA'}`;
    expect(await activate(changed)).toMatchObject({ code: 1 });
    expect((await asSource(target, 'GET', '/v1/users')).status).toBe(503);
    expect(await activate(code)).toMatchObject({ code: 0 });
    expect(await activate(code)).toMatchObject({ code: 0 });
    expect(await done('target', ...importing('second'))).toMatchObject({ outcome: 'active', receipt: null });
  });

  it('answers every GET route with the same bytes for the same key [MOVE-709]', async () => {
    const rows = JSON.stringify(await rowsWith(source, stem));
    const users = [...new Set(rows.match(/user-[a-z-]+/g))];
    const names = [
      ...new Set([
        ...idsIn(rows),
        ...users,
        'user-buyer',
        approval.id,
        approval.conversationId,
        'QUINCE',
        'SHOP_TOKEN',
        '1',
      ]),
    ];
    // Nothing of the org runs there any more, so it can be read as it was left.
    await source.sql(`UPDATE orgs SET status = 'active' WHERE id = $1`, [source.orgId]);
    const there = await answersOf(source, source.testKey, names);
    const here = await answersOf(target, source.testKey, names);
    expect(there.size).toBeGreaterThan(200);
    const different = [...there].filter(([path, text]) => plain(text, source) !== plain(here.get(path) ?? '', target));
    // Each installation records by itself which key was used in a minute. The overview says when it was read.
    const isOfTheReader = (path: string) => /^\/v1\/(audit-log|overview)/.test(path);
    expect(different.map(([path]) => path).filter((path) => !isOfTheReader(path))).toEqual([]);
    await source.sql(`UPDATE orgs SET status = 'moved' WHERE id = $1`, [source.orgId]);
  }, 600_000);

  it('continues there with everything that was open, and does nothing any more where it was [MOVE-710, MOVE-711]', async () => {
    const left = await countsOf(source, source.orgId);
    const sums = `SELECT account, sum(amount_micros)::text AS sum, count(*) FROM ledger_entries WHERE org_id = $1 GROUP BY 1 ORDER BY 1`;
    expect(await query(target.connectionString, sums, [source.orgId])).toEqual(await source.sql(sums, [source.orgId]));
    credentials.clear();
    await serveShop(shopPort);
    isHanging = false;
    receiver.open();
    const due = `UPDATE routines SET next_run_at = now() - interval '1 minute' WHERE id = '${routineId}'`;
    await source.sql(due);
    await query(target.connectionString, due);
    const worker = await startTestServer({ env: targetEnv, beside: target });
    const until = (
      path: string,
      isWanted: (body: { data: { status: string; result?: unknown }[]; last_run_at?: string }) => boolean,
    ) => expect.poll(async () => isWanted((await asSource(target, 'GET', path)).body), { timeout: 90_000 }).toBe(true);

    const answered = await asSource(target, 'POST', `/v1/interactions/${approval.id}/answer`, {
      body: { approve: true, present_user: true },
    });
    expect(answered.status, answered.text).toBe(200);
    await until(`/v1/tasks?conversation_id=${approval.conversationId}`, ({ data }) => data[0]?.status === 'done');
    expect([...credentials]).toEqual([`Bearer ${secretValue}`]);
    await until(`/v1/tasks?conversation_id=${slowConversation}`, ({ data }) => data[0]?.status === 'done');
    await until(`/v1/routines/${routineId}`, ({ last_run_at }) => last_run_at !== null);
    await expect
      .poll(() => receiver.received.filter(({ path }) => path === '/moved').length, { timeout: 90_000 })
      .toBeGreaterThan(1);
    const found = await asSource(target, 'GET', '/v1/memory/search?user_id=user-buyer&q=stamps');
    expect(found.text).toContain('Collects blue stamps.');
    const before = source.asked.length;
    const home = await asSource(target, 'POST', '/v1/conversations', {
      body: { user_id: 'user-buyer', deployment: 'desk', message: 'Read the home.', hand_off: 'always' },
    });
    await until(`/v1/tasks?conversation_id=${home.body.id}`, ({ data }) => data[0]?.status === 'done');
    // Other work of the org may ask the model at the same time.
    expect(source.asked.slice(before).flatMap(resultsIn).join()).toContain('kept-at-home');
    const { email, password } = source.owner;
    const login = await call(target.url, null, 'POST', '/v1/console/login', { body: { email, password } });
    expect([login.status, login.body.orgs?.map(({ id }: { id: string }) => id)]).toEqual([200, [source.orgId]]);

    const { audit_entries: _, jobs: __, api_keys: ___, ...still } = await countsOf(source, source.orgId);
    const { audit_entries: _a, jobs: _b, api_keys: _c, ...was } = left;
    expect(still).toEqual(was);
    const [routine] = await source.sql(`SELECT last_run_at FROM routines WHERE id = '${routineId}'`);
    expect(routine.last_run_at).toBeNull();
    await worker.stop();
  }, 600_000);

  it('can be removed where it was, and the rest of that installation stays [MOVE-712]', async () => {
    expect(await admin('target', 'org', 'remove', source.orgId)).toMatchObject({ code: 1 });
    expect(await done('source', 'org', 'remove', source.orgId)).toMatchObject({ org_id: source.orgId });
    expect(Object.entries(await countsOf(source, source.orgId)).filter(([, count]) => count > 0)).toEqual([]);
    const { jobs: _, rate_windows: __, ...all } = await rowsWith(source, source.orgId);
    expect(all).toEqual({});
  });
});

const waitingForLock = async () =>
  (
    await query(
      target.connectionString,
      `SELECT FROM pg_stat_activity WHERE application_name = 'vestra admin' AND wait_event_type = 'Lock'`,
    )
  ).length;

async function killed(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}
