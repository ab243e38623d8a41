/**
 * Makes the folder of a released version that `upgrades.test.ts` starts from: a server of that version is started from a
 * checkout of it, used through its API, and killed in the middle of a reply.
 *
 *   git worktree add /tmp/released 238deadd && (cd /tmp/released && npm install)
 *   node tests/upgrades/make-fixture.ts /tmp/released packages/server/src/main/main.ts tests/upgrades/0.2.0
 *
 * The backup is made by this checkout, from the data folder that the released server left.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { NormalisedRequest, ScriptedAnswer } from '../../packages/models/src/testing/scripted-answer.ts';
import { startScriptedModelServer } from '../../packages/models/src/testing/scripted-server.ts';
import { backup } from '../../packages/server/src/operator/backup.ts';
import { readConfig } from '../../packages/server/src/platform/config/config.ts';
import { startEmbeddedPostgres } from '../../packages/server/src/platform/db/embedded.ts';

const [checkout, entry, out] = process.argv.slice(2) as [string, string, string];
const dataDir = await mkdtemp(join(tmpdir(), 'vestra-released-'));
await chmod(dataDir, 0o711);
const model = await startScriptedModelServer({ respond });
const server = await startReleased();
const facts = await use(server.url).catch((error) => {
  server.child.kill('SIGTERM');
  throw error;
});
server.child.kill('SIGKILL');
await once(server.child, 'exit');
await model.close();

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
await writeFile(join(out, 'facts.json'), `${JSON.stringify(facts, null, 2)}\n`);
await writeFile(join(out, 'beside.sql'), await besideOf(dataDir));
await cp(join(dataDir, 'master-key'), join(out, 'master-key'));
const config = readConfig({ VESTRA_DATA_DIR: dataDir });
await backup({ config, progress: { show: () => {}, end: () => {} } }, join(out, 'backup.tar'), undefined);
await rm(dataDir, { recursive: true, force: true });

/** By what the person said last, and by whether a tool has answered since. */
function respond({ messages }: NormalisedRequest): ScriptedAnswer {
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const said = messages[asked]?.role === 'user' ? (messages[asked] as { text: string }).text : '';
  const isAnswered = messages.slice(asked).some(({ role }) => role === 'tool');
  const usage = { inputTokens: 1_234, outputTokens: 567 };
  if (isAnswered) return { text: 'Done, says the released version.', usage };
  if (/hang/.test(said)) return { fail: 'hang' };
  if (/size/.test(said)) {
    return { calls: [{ name: 'ask_question', arguments: { question: 'Which size?', options: ['S', 'M'] } }], usage };
  }
  if (/paper/.test(said)) return { calls: [{ name: 'order_paper', arguments: { sheets: 200 } }], usage };
  return { text: 'Hello from the released version.', usage };
}

async function startReleased(): Promise<{ url: string; child: ChildProcess }> {
  let output = '';
  const child = spawn(process.execPath, [join(resolve(checkout), entry)], {
    cwd: checkout,
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      VESTRA_DATA_DIR: dataDir,
      VESTRA_COMPUTER: 'off',
      VESTRA_ALLOW_PRIVATE_ADDRESSES: '1',
      OPENAI_COMPATIBLE_BASE_URL: model.baseUrls.compatible,
      OPENAI_COMPATIBLE_MODELS: 'scripted',
      OPENAI_COMPATIBLE_PRICE: '3,11',
      VESTRA_DEFAULT_MODEL: 'compatible/scripted',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  for (;;) {
    const url = /is running at (http:\S+)\n/.exec(output)?.[1];
    if (url) return { url, child };
    if (child.exitCode !== null) throw new Error(`The released server ended: ${output}`);
    await sleep(50);
  }
}

/** Everything that an upgrade may lose or break, made by the routes that made it then. */
async function use(url: string) {
  const credentials = JSON.parse(await readFile(join(dataDir, 'credentials.json'), 'utf8'));
  const { test_key, live_key } = credentials;
  // biome-ignore lint/suspicious/noExplicitAny: answers of another version, read field by field.
  type Body = any;
  const call = async (method: string, path: string, body?: unknown, key = test_key): Promise<Body> => {
    const isForm = body instanceof FormData;
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text ? JSON.parse(text) : null;
  };
  const until = async (path: string, isWanted: (body: Body) => boolean, key = test_key): Promise<Body> => {
    for (const deadline = Date.now() + 60_000; Date.now() < deadline; await sleep(50)) {
      const body = await call('GET', path, undefined, key);
      if (isWanted(body)) return body;
    }
    throw new Error(`GET ${path} never became as wanted.`);
  };
  const say = async (body: Record<string, unknown>, key = test_key) =>
    call('POST', '/v1/conversations', { deployment: 'desk', user_id: 'ada', ...body }, key);
  const atRest = (id: string, key = test_key) => until(`/v1/conversations/${id}`, (it) => it.status === 'idle', key);
  const openWait = async (id: string, key = test_key) =>
    (await until(`/v1/interactions?conversation_id=${id}`, ({ data }) => data.length === 1, key)).data[0];

  await call('PUT', '/v1/secrets/SHOP_TOKEN', { value: 'kept since the released version' });
  await call('PUT', '/v1/secrets/SHOP_TOKEN', { value: 'live, kept since the released version' }, live_key);
  const notebook = await call('POST', '/v1/notebooks', { name: 'Returns', slug: 'returns' });
  const document = await call('POST', `/v1/notebooks/${notebook.id}/documents`, {
    title: 'Returns',
    text: 'Parcels may be sent back within thirty days. The courier Zephyrine collects them on Tuesdays.',
  });
  const skill = await call('POST', '/v1/skills', {
    files: [
      {
        path: 'SKILL.md',
        content: '---\nname: folding\ndescription: Folds paper into boats.\n---\nFold it twice, then once.',
      },
      { path: 'notes/paper.txt', content: 'A4 folds best.' },
    ],
  });
  const file = {
    name: 'desk',
    instructions: 'Be brief. First version.',
    knowledge: [{ notebook: notebook.id }],
    skills: [{ id: skill.id }],
    tools: [{ function: 'order_paper', description: 'Order paper.', input: { sheets: 'integer' } }],
  };
  await call('PUT', '/v1/deployments/desk?promote=now', file, live_key);
  await call(
    'PUT',
    '/v1/deployments/desk?promote=now',
    { ...file, instructions: 'Be brief. Second version.' },
    live_key,
  );
  await call('PUT', '/v1/deployments/desk?promote=no', { ...file, instructions: 'Be brief. A draft.' });
  await call('POST', '/v1/users', { user_id: 'ada' });
  await call('PATCH', '/v1/users/ada', { spend_cap_usd: 7 });

  const talk = await say({ message: 'Hello' });
  await atRest(talk.id);
  const approval = await say({ message: 'Order paper please' });
  const question = await say({ message: 'Which size fits?' });
  const work = await say({ message: 'Order paper as work', hand_off: 'always' });
  const waits = {
    approval: { conversation_id: approval.id, id: (await openWait(approval.id)).id },
    question: { conversation_id: question.id, id: (await openWait(question.id)).id },
    work: { conversation_id: work.id, id: (await openWait(work.id)).id },
  };
  const form = new FormData();
  form.append('file', new Blob([Uint8Array.from({ length: 3_000 }, (_, at) => (at * 7) % 251)]), 'numbers.bin');
  const upload = await call('POST', '/v1/files?user_id=ada', form);
  const memory = await call('POST', '/v1/memory', { user_id: 'ada', text: 'Ada keeps bees on the roof.' });
  const batch = await call('POST', '/v1/batches', {
    deployment: 'desk',
    items: [
      { user_id: 'ada', message: 'Hello one' },
      { user_id: 'bob', message: 'Hello two' },
    ],
  });
  await until(`/v1/batches/${batch.id}`, ({ status }) => status === 'completed');
  const routine = await call('POST', '/v1/routines', {
    deployment: 'desk',
    user_id: 'ada',
    ask: 'Report.',
    every: 'day at 08:00',
  });
  const triggered = await call('POST', '/v1/routines', {
    deployment: 'desk',
    user_id: 'ada',
    ask: 'Report.',
    on: 'call',
  });
  const webhook = await call('POST', '/v1/webhooks', { url: 'http://127.0.0.1:9/hooks', events: ['task.completed'] });
  const session = await call('POST', '/v1/sessions', { user_id: 'ada', chat: true });
  const made = await call('POST', '/v1/keys', { name: 'second', scopes: ['runtime'] });
  await sleep(1_500);
  const org = await call('GET', '/v1/org');
  const { data: events } = await call('GET', `/v1/conversations/${talk.id}/events?format=json&limit=100`);
  const { data: versions } = await call('GET', '/v1/deployments/desk/versions');
  // Killed halfway through a reply: it resumes at the next start.
  const running = await say({ message: 'This one will hang' });
  await sleep(1_000);
  return {
    credentials,
    second_key: made.key,
    session: { id: session.id, token: session.token },
    balance_usd: org.balance_usd,
    talk: { id: talk.id, seqs: events.map(({ seq }: Body) => seq) },
    versions: versions.map(({ version, status }: Body) => ({ version, status })),
    waits,
    running: running.id,
    notebook: notebook.id,
    document: document.id,
    skill: skill.id,
    file: upload.id,
    memory: memory.id,
    batch: batch.id,
    routine: routine.id,
    triggered: triggered.id,
    webhook: webhook.id,
  };
}

/** Money that is held, which a backup leaves out. */
async function besideOf(folder: string): Promise<string> {
  const postgres = await startEmbeddedPostgres({ dataDir: folder, log: () => {} });
  const client = new pg.Client({ connectionString: postgres.connectionString });
  await client.connect();
  try {
    const { rows } = await client.query<{ rows: string | null }>(
      'SELECT json_agg(t)::text AS rows FROM reservations t',
    );
    const given = `json_populate_recordset(NULL::reservations, ${pg.escapeLiteral(rows[0]?.rows ?? '[]')})`;
    return `INSERT INTO reservations SELECT * FROM ${given};\n`;
  } finally {
    await client.end();
    await postgres.stop();
  }
}
