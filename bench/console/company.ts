/** A company whose console is full: everything a page can show is there at least once. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { NormalisedRequest, ScriptedAnswer } from '@vestra/models/testing/scripted-answer';
import { startScriptedModelServer } from '@vestra/models/testing/scripted-server';
import { startEmbeddedPostgres } from '@vestra/server/platform/db/embedded';
import pg from 'pg';
import { freePort } from '../processes.ts';
import { startServerProcess } from '../server-process.ts';

export type Company = {
  url: string;
  orgId: string;
  owner: { email: string; password: string };
  connectionString: string;
  /** Ids of what was made, by what it is. */
  made: Record<
    'deployment' | 'notebook' | 'skill' | 'toolServer' | 'endpoint' | 'event' | 'batch' | 'routine',
    string
  > &
    Record<'conversation' | 'failedTalk' | 'waitingTalk' | 'task' | 'failedTask' | 'testRun', string>;
  stop: () => Promise<void>;
};

// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field, and one that is none stops the run.
type Body = any;
type Call = (method: string, path: string, body?: unknown) => Promise<Body>;

export async function openCompany(folder: string): Promise<Company> {
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'database'), log: () => {} });
  const model = await startScriptedModelServer({ respond: answerTo });
  const told = createServer((_, response) => void response.end('{}'));
  await new Promise<void>((resolve) => told.listen(0, '127.0.0.1', resolve));
  const dataDir = join(folder, 'server');
  const { connectionString } = postgres;
  const server = await startServerProcess(dataDir, await freePort(), {
    DATABASE_URL: connectionString,
    OPENAI_COMPATIBLE_BASE_URL: model.baseUrls.compatible,
    OPENAI_COMPATIBLE_MODELS: 'scripted',
    VESTRA_DEFAULT_MODEL: 'compatible/scripted',
    VESTRA_ALLOW_PRIVATE_ADDRESSES: '1',
    VESTRA_ASK_FOR_MODELS: '0',
  });
  const call = callTo(server.url, server.testKey);
  const made = await fill(call, `http://127.0.0.1:${(told.address() as AddressInfo).port}`);
  return {
    url: server.url,
    orgId: server.orgId,
    owner: server.owner,
    connectionString,
    made,
    async stop() {
      await server.stop();
      told.close();
      await model.close();
      await postgres.stop();
    },
  };
}

const callTo =
  (url: string, key: string): Call =>
  async (method, path, body) => {
    const isForm = body instanceof FormData;
    const response = await fetch(`${url}/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(!isForm && body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return text === '' ? null : JSON.parse(text);
  };

async function fill(call: Call, ownProgram: string): Promise<Company['made']> {
  const notebook = await call('POST', '/notebooks', { name: 'House rules', slug: 'house-rules' });
  for (const [name, text] of documents) {
    const form = new FormData();
    form.set('file', new Blob([text], { type: 'text/markdown' }), name);
    await call('POST', `/notebooks/${notebook.id}/documents`, form);
  }
  const content =
    '---\nname: refund\ndescription: Use when money goes back to a customer.\n---\nBe quick, and say when.';
  const skill = await call('POST', '/skills', { files: [{ path: 'SKILL.md', content }] });
  await call('PUT', '/secrets/CRM_TOKEN', { value: 'sk-of-nobody' });
  const toolServer = await call('POST', '/mcp-servers', {
    name: 'CRM',
    slug: 'crm',
    url: 'http://127.0.0.1:9/mcp',
    tools: { deny: ['drop_all'], require_approval: ['send_mail'] },
  });
  const endpoint = await call('POST', '/webhooks', { url: `${ownProgram}/told`, events: ['*'] });
  await call('PATCH', '/limits', {
    caps: { org_daily_usd: 5, user_daily_usd: 2 },
    usage_alerts: { thresholds: [50, 90] },
  });
  for (const version of ['Be kind.', 'Be kind and brief.', 'Be kind, brief and exact.'])
    await call('PUT', '/deployments/paper-shop?promote=now', deploymentFile(version, notebook.id, skill.id));
  await call('PUT', '/deployments/researcher?promote=now', { name: 'researcher', instructions: 'Find things out.' });
  const deployment = await call('GET', '/deployments/paper-shop');

  for (const name of people) await call('POST', '/users', { user_id: name.toLowerCase(), name: `${name} Example` });
  const talks: Body[] = [];
  for (let at = 0; at < 24; at++) {
    const user_id = (people[at % people.length] as string).toLowerCase();
    const message = messages[at % messages.length];
    talks.push(await call('POST', '/conversations', { deployment: 'paper-shop', user_id, message }));
  }
  for (const message of ['Compare three paper mills', 'Fail at it', 'Ask me first'])
    await call('POST', '/conversations', { deployment: 'researcher', user_id: 'ada', message, hand_off: 'always' });
  const failedTalk = await call('POST', '/conversations', {
    deployment: 'paper-shop',
    user_id: 'hiro',
    message: 'Fail at it',
  });
  await settled(call);
  const [talk, waitingTalk] = talks;
  await call('POST', `/conversations/${talk.id}/messages`, { message: 'And when may I return it?' });
  const testRun = await call('POST', '/deployments/paper-shop/test-runs');
  const items = people.map((name) => ({ user_id: name.toLowerCase(), message: 'Where is my order?' }));
  const batch = await call('POST', '/batches', { deployment: 'paper-shop', items });
  const routine = await call('POST', '/routines', {
    user_id: 'ada',
    name: 'Morning',
    ask: 'What is new?',
    every: 'weekday at 08:00',
    timezone: 'Europe/Berlin',
  });
  await call('POST', '/keys', { name: 'Shop backend', scopes: ['runtime'] });
  await settled(call);
  const tasks = (await call('GET', '/tasks?limit=100')).data;
  const events = (await call('GET', '/events?limit=1')).data;
  return {
    deployment: deployment.id,
    notebook: notebook.id,
    skill: skill.id,
    toolServer: toolServer.id,
    endpoint: endpoint.id,
    event: events[0].id,
    batch: batch.id,
    routine: routine.id,
    conversation: talk.id,
    failedTalk: failedTalk.id,
    waitingTalk: waitingTalk.id,
    task: tasks.find(({ status }: Body) => status === 'done').id,
    failedTask: tasks.find(({ status }: Body) => status === 'failed').id,
    testRun: testRun.id,
  };
}

async function settled(call: Call): Promise<void> {
  for (let isBusy = true; isBusy; ) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    const { data: conversations } = await call('GET', '/conversations?limit=100');
    const { data: tasks } = await call('GET', '/tasks?limit=100');
    isBusy =
      conversations.some(({ status }: Body) => status === 'replying') ||
      tasks.some(({ status }: Body) => status === 'queued' || status === 'working');
  }
}

const people = ['Ada', 'Ben', 'Chiara', 'Dmitri', 'Emeka', 'Fatima', 'Grace', 'Hiro'];
const messages = ['Where is my order 17?', 'Order two sheets', 'Do you have squared paper?', 'Thank you!'];
const documents = [
  ['returns.md', '# Returns\nPaper may be returned within 30 days.\n\nTorn paper may not.'],
  ['delivery.md', '# Delivery\nParcels leave the warehouse every morning and take two days.'],
  ['formats.md', '# Formats\nA4 and A5, blank, lined and squared.'],
] as const;

const deploymentFile = (instructions: string, notebook: string, skill: string) => ({
  name: 'paper-shop',
  instructions,
  knowledge: [{ notebook }],
  skills: [{ id: skill }],
  tools: [
    {
      function: 'find_order',
      description: 'Finds an order by its number.',
      input: { number: 'string' },
      read_only: true,
    },
    { function: 'order_paper', description: 'Orders paper.', input: { sheets: 'integer' }, approver: 'org' },
  ],
  tests: [
    { name: 'greets', ask: 'Say hello.', expect: ['It says hello.'] },
    { name: 'refuses torn paper', ask: 'I want to return torn paper.', expect: ['It refuses politely.'] },
  ],
});

function answerTo(request: NormalisedRequest): ScriptedAnswer {
  const usage = { inputTokens: 1800, outputTokens: 120, cacheReadTokens: 900 };
  const { properties = {} } = (request.outputSchema ?? {}) as { properties?: object };
  const last = request.messages.findLastIndex(({ role }) => role === 'user');
  const asked = JSON.stringify(request.messages[last] ?? '');
  if ('says' in properties) return { text: JSON.stringify({ says: '', is_done: true }), usage };
  if ('must_never' in properties) return { text: verdictOn(asked), usage };
  const results = request.messages.slice(last + 1).filter(({ role }) => role === 'tool');
  const calls = plan.find(([words]) => asked.includes(words))?.[1] ?? [];
  const next = calls[results.length];
  if (next?.name === 'fail') return { fail: 400, failMessage: 'No.' };
  if (next) return { text: 'One moment.', calls: [next], usage };
  return { text: replies[request.count % replies.length] as string, usage };
}

const plan: readonly (readonly [string, readonly { name: string; arguments: unknown }[]])[] = [
  ['Order two sheets', [{ name: 'order_paper', arguments: { sheets: 2 } }]],
  ['Ask me first', [{ name: 'ask_question', arguments: { question: 'Which mill do you mean?' } }]],
  ['Fail at it', [{ name: 'fail', arguments: {} }]],
  ['squared paper', [{ name: 'search_notebooks', arguments: { query: 'squared paper' } }]],
];

const verdictOn = (asked: string) => {
  const text = /Criterion: (.*?)(?:\\n|")/.exec(asked)?.[1] ?? '';
  return JSON.stringify({ criteria: [{ text, met: !text.includes('refuses'), reason: `“${text}”` }], must_never: [] });
};

const replies = [
  'Your order left our warehouse this morning and will be with you on Friday.',
  'Yes: A4 and A5, **blank**, *lined* and squared.\n\n- A4: 2.50\n- A5: 1.90',
  'You are welcome!',
];

/** Rows that no API makes in a minute, written where the API reads them. */
export async function addRows({ connectionString, orgId }: Company, conversations: number): Promise<void> {
  await withDatabase(connectionString, async (client) => {
    await client.query(
      `INSERT INTO conversations (id, org_id, mode, user_id)
       SELECT 'conv_' || lpad(n::text, 24, '0'), $1, 'test', 'user-' || n % 1000 FROM generate_series(1, $2::int) n`,
      [orgId, conversations],
    );
    await client.query('VACUUM ANALYZE conversations');
  });
}

export async function addSteps({ connectionString, made }: Company, steps: number): Promise<void> {
  await withDatabase(connectionString, async (client) => {
    await client.query(
      `INSERT INTO run_steps (run_id, step_index, kind, text, model, input_tokens, output_tokens, cache_read_tokens,
         cost_micros, started_at, created_at)
       SELECT $1, 1000 + n, 'model', 'Step ' || n, 'compatible/scripted', 900, 40, 400, 900,
         now() - interval '3 hours' + n * interval '2 seconds', now() - interval '3 hours' + n * interval '2 seconds' + interval '900 ms'
       FROM generate_series(1, $2::int) n`,
      [made.task, steps / 2],
    );
    await client.query(
      `INSERT INTO run_calls (run_id, step_index, position, id, name, arguments, started_at, output, is_error, result_from, finished_at)
       SELECT $1, 1000 + n, 0, 'call_bench_' || n, 'search_notebooks', '{"query":"paper"}',
         now() - interval '3 hours' + n * interval '2 seconds' + interval '900 ms', 'found', false, 'tool',
         now() - interval '3 hours' + n * interval '2 seconds' + interval '1500 ms'
       FROM generate_series(1, $2::int) n`,
      [made.task, steps / 2],
    );
  });
}

async function withDatabase(connectionString: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await work(client).finally(() => client.end());
}
