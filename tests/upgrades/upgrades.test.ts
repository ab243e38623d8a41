import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NormalisedRequest, ScriptedAnswer } from '@vestra/models/testing/scripted-answer';
import { type ScriptedModelServer, startScriptedModelServer } from '@vestra/models/testing/scripted-server';
import { readSecrets } from '@vestra/server/account/secrets/secrets';
import { credit } from '@vestra/server/billing/charge';
import { migrationsFolder } from '@vestra/server/main/postgres';
import { readOpening, verifyArchive } from '@vestra/server/operator/archive/reader';
import { fillTables, putFiles } from '@vestra/server/operator/restore';
import { declareFinished, loadRows, makeSchema, withSession } from '@vestra/server/platform/db/dump';
import { readMigrations } from '@vestra/server/platform/db/migrate';
import { closeDatabase, openDatabase } from '@vestra/server/platform/db/pool';
import { transaction } from '@vestra/server/platform/db/transaction';
import { createDiskStore } from '@vestra/server/platform/files/file-store';
import { createVault, openMasterKeys } from '@vestra/server/platform/secrets/vault';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { query } from '../support/database.ts';
import { type ApiResponse, startTestServer, type TestServer } from '../support/server.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import facts from './0.2.0/facts.json' with { type: 'json' };

/** Data that `make-fixture.ts` created with the released version. */
const fixture = join(import.meta.dirname, '0.2.0');
const { waits } = facts;
const { test_key, live_key, org_id, owner } = facts.credentials;

let dataDir: string;
let database: TestDatabase;
let model: ScriptedModelServer;
let server: TestServer;
/** The instructions of the requests of the model, newest last. */
const systems: string[] = [];

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'vestra-upgrade-'));
  database = await createTestDatabase();
  await layOut();
  model = await startScriptedModelServer({ respond });
  server = await startTestServer({
    env: {
      VESTRA_DATA_DIR: dataDir,
      VESTRA_MASTER_KEY: '',
      VESTRA_LEASE_SECONDS: '1',
      OPENAI_COMPATIBLE_BASE_URL: model.baseUrls.compatible,
      OPENAI_COMPATIBLE_MODELS: 'scripted',
      OPENAI_COMPATIBLE_PRICE: '3,11',
      VESTRA_DEFAULT_MODEL: 'compatible/scripted',
      VESTRA_ALLOW_PRIVATE_ADDRESSES: '1',
    },
    beside: {
      url: '',
      orgId: org_id,
      testKey: test_key,
      liveKey: live_key,
      owner,
      connectionString: database.connectionString,
      call: () => Promise.reject(new Error('The released server is gone.')),
      stop: async () => {},
    },
  });
});
afterAll(async () => {
  await server.stop();
  await model.close();
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

/** Restores the data folder and the database as the released server left them, with its record of single migrations. */
async function layOut(): Promise<void> {
  const archive = join(fixture, 'backup.tar');
  const opening = await readOpening(archive);
  const manifest = await verifyArchive(archive, () => {});
  const quiet = { show: () => {}, end: () => {} };
  await mkdir(dataDir, { recursive: true });
  await writeFile(join(dataDir, 'master-key'), await readFile(join(fixture, 'master-key')), { mode: 0o600 });
  await putFiles(archive, manifest, createDiskStore(join(dataDir, 'files')), quiet);
  await withSession(database.connectionString, async (client) => {
    await makeSchema(client, await readMigrations(migrationsFolder), opening.migrations);
    await loadRows(client, manifest.sequences, (load) => fillTables(archive, manifest, load, quiet));
    await client.query(await readFile(join(fixture, 'beside.sql'), 'utf8'));
    await makeYoung(client, opening.created_at);
    await client.query('DELETE FROM schema_migrations');
    for (const { name, sha256 } of opening.migrations) {
      await client.query('INSERT INTO schema_migrations (name, sha256) VALUES ($1, $2)', [name, sha256]);
    }
    await declareFinished(client);
  });
}

/**
 * As if it had been made half a minute ago: otherwise what waits would expire, and events be removed, as the years pass. The
 * leases of the server that was killed have just run out then.
 */
async function makeYoung(client: pg.Client, madeAt: string): Promise<void> {
  const { rows } = await client.query<{ table: string; changes: string }>(
    `SELECT format('%I.%I', table_schema, table_name) AS table,
            string_agg(format('%1$I = %1$I + (now() - interval ''30 seconds'' - %2$L::timestamptz)', column_name, $1::text), ', ') AS changes
       FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
      WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND data_type = 'timestamp with time zone'
      GROUP BY 1`,
    [madeAt],
  );
  for (const { table, changes } of rows) await client.query(`UPDATE ${table} SET ${changes}`);
}

/** Until the money of the released version was read nothing may cost any. */
const moneyIsRead = Promise.withResolvers<void>();

async function respond({ messages, system }: NormalisedRequest): Promise<ScriptedAnswer> {
  await moneyIsRead.promise;
  systems.push(system.join('\n'));
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const said = (messages[asked] as { text?: string } | undefined)?.text ?? '';
  const heard = messages
    .slice(asked)
    .flatMap((each) => (each.role === 'tool' ? each.results.map((it) => it.output) : []));
  if (heard.length > 0) return { text: `Heard: ${heard.at(-1)}` };
  if (/courier/.test(said))
    return { calls: [{ name: 'search_notebooks', arguments: { query: 'who collects parcels' } }] };
  if (/fold/.test(said)) return { calls: [{ name: 'use_skill', arguments: { name: 'folding' } }] };
  return { text: `Now: ${said}` };
}

const until = async (path: string, isWanted: (body: ApiResponse['body']) => boolean): Promise<ApiResponse['body']> => {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; ) {
    const { body } = await server.call('GET', path);
    if (isWanted(body)) return body;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`GET ${path} never became as wanted.`);
};
const textsOf = async (conversationId: string): Promise<string[]> =>
  (await server.call('GET', `/v1/conversations/${conversationId}/messages?limit=100`)).body.data.map(
    (message: { text: string }) => message.text,
  );
const ask = async (message: string, options: Record<string, unknown> = {}, key = test_key) => {
  const { body } = await server.call('POST', '/v1/conversations', {
    key,
    body: { deployment: 'desk', user_id: 'ada', ...options },
  });
  const turn = await server.call('POST', `/v1/conversations/${body.id}/messages`, {
    key,
    body: { message },
    headers: { prefer: 'wait=60' },
  });
  expect(turn.status, turn.text).toBe(200);
  return turn.body.reply.text as string;
};
const answer = (id: string, body: Record<string, unknown>) =>
  server.call('POST', `/v1/interactions/${id}/answer`, { body });

describe('a data folder of version 0.2.0', () => {
  it('has its money to the cent, and every transfer sums to zero [OPS-110]', async () => {
    expect((await server.call('GET', '/v1/org')).body.balance_usd).toBe(facts.balance_usd);
    const held = await query<{ count: number }>(database.connectionString, 'SELECT count(*)::int FROM reservations');
    expect(held[0]?.count).toBeGreaterThan(0);
    moneyIsRead.resolve();
    const uneven = 'SELECT transfer_id FROM ledger_entries GROUP BY 1 HAVING sum(amount_micros) <> 0';
    expect(await query(database.connectionString, uneven)).toEqual([]);
  });

  it('lets the same keys, session and owner in [OPS-110]', async () => {
    for (const key of [test_key, live_key, facts.second_key]) {
      expect((await server.call('GET', '/v1/me', { key })).status).toBe(200);
    }
    const session = await server.call('GET', `/v1/sessions/${facts.session.id}`, { key: facts.session.token });
    expect([session.status, session.body.user_id]).toEqual([200, 'ada']);
    const login = await server.call('POST', '/v1/console/login', { key: null, body: owner });
    expect(login.status, login.text).toBe(200);
  });

  it('opens its secrets with its old master key [OPS-110]', async () => {
    const db = await openDatabase({ connectionString: database.connectionString, max: 1 });
    const vault = createVault(openMasterKeys({ dataDir, masterKey: null }));
    const secretIn = async (mode: 'test' | 'live') =>
      (await readSecrets(db, vault, { orgId: org_id, mode }, null, ['SHOP_TOKEN'])).get('SHOP_TOKEN');
    const opened = [await secretIn('test'), await secretIn('live')];
    await closeDatabase(db);
    expect(opened).toEqual(['kept since the released version', 'live, kept since the released version']);
  });

  it('shows messages, memory, files and routines [OPS-110]', async () => {
    expect(await textsOf(facts.talk.id)).toEqual(['Hello from the released version.', 'Hello']);
    const events = await server.call('GET', `/v1/conversations/${facts.talk.id}/events?format=json&limit=100`);
    expect(events.body.data.map(({ seq }: { seq: number }) => seq)).toEqual(facts.talk.seqs);
    const memory = await server.call('GET', '/v1/memory?user_id=ada');
    expect(memory.text).toContain('Ada keeps bees on the roof.');
    const found = await server.call('GET', '/v1/memory/search?user_id=ada&q=insects%20kept%20by%20Ada%20bees');
    expect(found.text).toContain('Ada keeps bees on the roof.');
    const { download_url } = (await server.call('GET', `/v1/files/${facts.file}`)).body;
    const { pathname, search } = new URL(download_url);
    const bytes = new Uint8Array(await (await fetch(new URL(pathname + search, server.url))).arrayBuffer());
    expect(bytes).toEqual(Uint8Array.from({ length: 3_000 }, (_, at) => (at * 7) % 251));
    expect((await server.call('GET', `/v1/batches/${facts.batch}`)).body).toMatchObject({
      status: 'completed',
      counts: { succeeded: 2 },
    });
    expect((await server.call('GET', `/v1/routines/${facts.routine}`)).body).toMatchObject({ enabled: true });
    expect((await server.call('GET', `/v1/webhooks/${facts.webhook}`)).body.events).toEqual(['task.completed']);
    expect((await server.call('GET', '/v1/users/ada')).body.spend_cap_usd).toBe(7);
    expect((await server.call('GET', `/v1/skills/${facts.skill}`)).body.files).toHaveLength(2);
  });

  it('runs its routine and finds the content of its notebook and skill [OPS-110]', async () => {
    const ran = await server.call('POST', `/v1/routines/${facts.triggered}/trigger`, { body: {} });
    expect([200, 202]).toContain(ran.status);
    expect(await ask('Who is the courier?')).toContain('Zephyrine');
    expect(await ask('How do I fold a boat?')).toContain('Fold it twice');
  });

  it('keeps its versions: the live one runs, and is rolled back [OPS-110]', async () => {
    const { data } = (await server.call('GET', '/v1/deployments/desk/versions')).body;
    expect(data.map(({ version }: { version: number }) => version)).toEqual(
      facts.versions.map(({ version }) => version),
    );
    await ask('Hello draft');
    expect(systems.at(-1)).toContain('A draft.');
    const db = await openDatabase({ connectionString: database.connectionString, max: 1 });
    await transaction(db, (tx) => credit(tx, { orgId: org_id, mode: 'live' }, 5_000_000n));
    await closeDatabase(db);
    const asksLive = async () => {
      expect(await ask('Who is the courier?', {}, live_key)).toContain('Zephyrine');
      expect(await ask('How do I fold a boat?', {}, live_key)).toContain('Fold it twice');
      return /\w+ version\./.exec(systems.at(-1) ?? '')?.[0];
    };
    expect(await asksLive()).toBe('Second version.');
    const rolled = await server.call('POST', '/v1/deployments/desk/rollback', { key: live_key });
    expect([rolled.status, rolled.body.live_version], rolled.text).toEqual([200, 1]);
    expect(await asksLive()).toBe('First version.');
  });

  it('resumes pending approvals, questions and tasks [OPS-111]', async () => {
    const goesOn = async (wait: { id: string; conversation_id: string }) => {
      expect((await answer(wait.id, { approve: true, present_user: true })).status).toBe(200);
      const path = `/v1/interactions?conversation_id=${wait.conversation_id}`;
      const { data } = await until(path, (it) => it.data.some(({ type }: { type: string }) => type === 'tool_call'));
      const called = data.find(({ type }: { type: string }) => type === 'tool_call');
      expect((await answer(called.id, { output: 'Paper is on its way.' })).status).toBe(200);
    };
    await goesOn(waits.approval);
    await goesOn(waits.work);
    expect((await answer(waits.question.id, { answers: ['M'] })).status).toBe(200);
    for (const { conversation_id } of Object.values(waits)) {
      await until(`/v1/conversations/${conversation_id}`, ({ status }) => status === 'idle');
    }
    expect((await textsOf(waits.approval.conversation_id)).join()).toContain('Paper is on its way.');
    const { data: tasks } = (await server.call('GET', `/v1/tasks?conversation_id=${waits.work.conversation_id}`)).body;
    expect(tasks).toMatchObject([{ status: 'done' }]);
    expect((await textsOf(waits.question.conversation_id)).join()).toContain('Heard:');
  });

  it('ends the reply in the middle of which its server was killed [OPS-111]', async () => {
    await until(`/v1/conversations/${facts.running}`, ({ status }) => status === 'idle');
    expect(await textsOf(facts.running)).toEqual(['Now: This one will hang', 'This one will hang']);
  });
});
