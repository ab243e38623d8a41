import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NormalisedRequest } from '@vestra/models/testing/scripted-answer';
import { type ScriptedModelServer, startScriptedModelServer } from '@vestra/models/testing/scripted-server';
import { credit } from '@vestra/server/billing/charge';
import { closeDatabase, openDatabase } from '@vestra/server/platform/db/pool';
import { transaction } from '@vestra/server/platform/db/transaction';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cast, lastText, partOf, resultsIn } from '../support/cast.ts';
import { query } from '../support/database.ts';
import { makeDataDir, readCredentials, type ServerProcess, startProcess } from '../support/process.ts';
import { type ApiResponse, call } from '../support/server.ts';

/** The short form belongs to every change; `npm run chaos` runs the long one. */
const isLong = process.env.VESTRA_CHAOS === 'long';
const rounds = isLong ? 4 : 1;
const scenarios = 6;

let dataDir: string;
let remove: () => Promise<void>;
let server: ServerProcess;
let model: ScriptedModelServer;
let liveKey: string;
let orgId: string;

/** The process is killed while it waits for the answer to such a request. */
type Stage = { part: 'agent' | 'user' | 'judge'; about: string };
let stage: Stage | null = null;
let reached = () => {};

const drafted = {
  ...{ name: 'Asks for the window', persona: 'A customer.', success_criteria: ['The agent says "30 days".'] },
  ...{ must_never: [], personal_values: [], steering: false },
};
const proposal = {
  ...{ instructions: 'We refund within 30 days.', instructions_reason: 'The document says so.' },
  ...{ tools: [], documents: [], cannot_fix: [] },
};

const answer = cast({
  agent: (request) => {
    const { properties = {} } = (request.outputSchema ?? {}) as { properties?: object };
    if ('personal_values' in properties) return { text: JSON.stringify(drafted) };
    if ('cannot_fix' in properties) return { text: JSON.stringify(proposal) };
    const [, days] = /We refund within (\d+) days/.exec(request.system.join('\n')) ?? [];
    if (days !== undefined) return { text: `It is ${days} days.` };
    if (resultsIn(request).length > 0) return { text: `It is Friday. ${lastText(request)}` };
    return { calls: [{ name: 'look', arguments: { id: '1' } }] };
  },
  judge: ({ kind, text, transcript }) => ({
    holds: text.includes('30 days')
      ? transcript.slice(transcript.indexOf('Agent:')).includes('30 days')
      : kind === 'criterion',
  }),
  user: ({ messages }) => (messages.filter(({ role }) => role === 'agent').length < 2 ? 'And the day after?' : ''),
});

/** Kinds of requests that the model answered, in order. A request of a killed process has no answer. */
const answered: string[] = [];
const answers = (kind: string) => answered.filter((each) => each === kind).length;

function kindOf(request: NormalisedRequest): string {
  const { properties = {} } = (request.outputSchema ?? {}) as { properties?: object };
  if ('personal_values' in properties) return 'draft';
  if ('cannot_fix' in properties) return 'proposal';
  const part = partOf(request);
  // The agent is also asked for other things, such as facts to remember.
  return part === 'agent' && request.system.join('\n').includes('We refund within') ? 'reply' : part;
}

async function respond(request: NormalisedRequest) {
  const isStage = stage !== null && partOf(request) === stage.part && JSON.stringify(request).includes(stage.about);
  if (isStage) {
    stage = null;
    reached();
    return { fail: 'hang' as const };
  }
  answered.push(kindOf(request));
  return { ...(await answer(request)), delayMs: 20 };
}

const start = () =>
  startProcess(dataDir, {
    OPENAI_COMPATIBLE_BASE_URL: model.baseUrls.compatible,
    OPENAI_COMPATIBLE_MODELS: 'scripted',
    VESTRA_DEFAULT_MODEL: 'compatible/scripted',
    // The short form waits less for what a killed process held.
    ...(!isLong && { VESTRA_LEASE_SECONDS: '5' }),
  });

beforeAll(async () => {
  model = await startScriptedModelServer({ respond });
  ({ dataDir, remove } = await makeDataDir());
  server = await start();
  ({ live_key: liveKey, org_id: orgId } = await readCredentials(dataDir));
  const db = await openDatabase({ connectionString: await databaseUrl() });
  await transaction(db, (tx) => credit(tx, { orgId, mode: 'live' }, 50_000_000n));
  await closeDatabase(db);
});
afterAll(async () => {
  await server?.kill('SIGTERM');
  await model?.close();
  await remove?.();
});

const databaseUrl = () => readFile(`${dataDir}/postgres.url`, 'utf8');
const send = (method: string, path: string, body?: unknown): Promise<ApiResponse> =>
  call(server.url, liveKey, method, path, body === undefined ? {} : { body });

const fileOf = (round: number) => ({
  name: 'desk',
  instructions: `Round ${round}.`,
  tools: [{ function: 'look', description: 'Looks.', input: { id: 'string' }, read_only: true }],
  tests: Array.from({ length: scenarios }, (_, at) => ({
    name: `Scenario ${at}`,
    ask: `What about number${at}?`,
    expect: [`The agent says Friday to number${at}.`],
    tool_results: { look: `number${at} is Friday` },
  })),
});

/** One kill while the agent replies, one while the user thinks and one while the judge does. */
const stages: Stage[] = [
  { part: 'agent', about: 'number0' },
  { part: 'user', about: 'number4' },
  { part: 'judge', about: 'number5' },
];

describe('killed while its scenarios are played', () => {
  it(
    'a run resumes by itself, keeps its recorded decisions, and promotes once [JOB-010, TRUN-003, TRUN-005]',
    async () => {
      for (let round = 1; round <= rounds; round++) {
        const first = killAt(stages[0] as Stage);
        const applied = await send('PUT', '/v1/deployments/desk?promote=after_tests', fileOf(round));
        expect([applied.status, applied.text.slice(0, 300)]).toEqual([200, expect.any(String)]);
        const { id } = applied.body.test_run;
        await first;
        let decided: ApiResponse['body'][] = [];
        for (const next of stages.slice(1)) {
          await killAt(next);
          const { body } = await send('GET', `/v1/test-runs/${id}`);
          for (const result of decided) expect(body.results).toContainEqual(result);
          decided = body.results.filter(({ status }: { status: string }) => status === 'passed');
        }
        expect(decided.length).toBeGreaterThanOrEqual(2);
        if (isLong) await killWhilePromoting(id);
        const run = await ended(id);
        const kills = stages.length + (isLong ? 1 : 0);
        expect(run).toMatchObject({ status: 'passed', resumes: kills, counts: { passed: scenarios } });
        for (const result of decided) expect(run.results).toContainEqual(result);
        await assertPlayedOnce(run);
        await assertPromotedOnce(round, id);
      }
    },
    isLong ? 3_600_000 : 400_000,
  );
});

describe('killed while conversations are replayed', () => {
  it('a replay resumes by itself and sends every line once [TRUN-427]', async () => {
    const desk = { name: 'talks' };
    await send('PUT', '/v1/deployments/talks?promote=now', desk);
    const ask = async (message: string, id?: string) => {
      const body = id ? { message } : { deployment: 'talks', message };
      const sent = await send('POST', id ? `/v1/conversations/${id}/messages` : '/v1/conversations', body);
      const conversationId: string = id ?? sent.body.id;
      while ((await send('GET', `/v1/conversations/${conversationId}`)).body.status !== 'idle') await sleep(50);
      return conversationId;
    };
    const talk = await ask('Tell me of replay0');
    await ask('And of replay1', talk);
    await send('PUT', '/v1/deployments/talks?promote=no', { ...desk, instructions: 'Briefly.' });
    const killed = killAt({ part: 'agent', about: 'replay1' });
    const { body: begun } = await send('POST', '/v1/deployments/talks/replays', { conversation_ids: [talk] });
    await killed;
    for (const deadline = Date.now() + 120_000; ; await sleep(100)) {
      const { body } = await send('GET', `/v1/replays/${begun.id}`);
      if (body.finished_at === null && Date.now() < deadline) continue;
      expect(body).toMatchObject({ status: 'completed', resumes: 1, counts: { total: 1, failed: 0 } });
      expect(body.talks[0].exchanges.map(({ message }: { message: string }) => message)).toEqual([
        'Tell me of replay0',
        'And of replay1',
      ]);
      const said = await query(
        await databaseUrl(),
        `SELECT text FROM messages WHERE conversation_id = $1 AND role = 'user'`,
        [body.talks[0].replayed_conversation_id],
      );
      expect(said).toHaveLength(2);
      return;
    }
  }, 200_000);
});

describe('killed while it improves a deployment', () => {
  it('an improvement resumes by itself in each phase, proposes once and charges exactly [IMPR-718]', async () => {
    await send('PUT', '/v1/deployments/shop?promote=now', { name: 'shop', instructions: 'We refund within 14 days.' });
    const { body: asked } = await send('POST', '/v1/conversations', { deployment: 'shop', message: 'How long?' });
    while ((await send('GET', `/v1/conversations/${asked.id}`)).body.status !== 'idle') await sleep(50);
    const phases: Stage[] = [
      { part: 'agent', about: 'personal_values' },
      { part: 'judge', about: 'It is 14 days' },
      { part: 'agent', about: 'cannot_fix' },
      { part: 'judge', about: 'It is 30 days' },
    ];
    answered.length = 0;
    const first = killAt(phases[0] as Stage);
    const from = { type: 'conversations', conversation_ids: [asked.id] };
    const { body: begun, text } = await send('POST', '/v1/deployments/shop/improvements', { from, budget_usd: 20 });
    expect(begun.id, text).toMatch(/^imp_/);
    await first;
    for (const next of phases.slice(1)) await killAt(next);
    for (const deadline = Date.now() + 180_000; ; await sleep(100)) {
      const { body } = await send('GET', `/v1/improvements/${begun.id}`);
      if (body.finished_at === null && Date.now() < deadline) continue;
      expect(body).toMatchObject({
        status: 'completed',
        outcome: 'improved',
        resumes: phases.length,
        rounds_played: 1,
      });
      expect(body.scenarios).toMatchObject([{ before: { runs: 3, failed: 3 }, after: { runs: 3, passed: 3 } }]);
      // Nothing is drafted, proposed, played or judged again: 3 runs before and 3 after, of two messages each.
      expect([answers('draft'), answers('proposal'), answers('reply'), answers('judge')]).toEqual([1, 1, 12, 6]);
      expect((await send('GET', '/v1/deployments/shop/versions')).body.data).toHaveLength(2);
      expect((await send('GET', '/v1/deployments/shop')).body.live_version).toBe(1);
      const [spent] = await query<{ micros: string }>(
        await databaseUrl(),
        `SELECT sum(amount_micros) AS micros FROM ledger_entries WHERE account = 'spend' AND kind = 'improvement'`,
      );
      expect(Math.round(body.cost_usd * 1e5)).toBe(Math.round(Number(spent?.micros) / 10));
      const { body: events } = await send('GET', '/v1/events?type=improvement.completed');
      expect(events.data).toHaveLength(1);
      return;
    }
  }, 400_000);
});

/** Resolves when the process has been killed at that stage and another one serves. */
async function killAt(next: Stage): Promise<void> {
  await new Promise<void>((resolve) => {
    reached = resolve;
    stage = next;
  });
  await server.kill('SIGKILL');
  server = await start();
}

/** All verdicts are there, and the promotion waits for somebody who holds the deployment. */
async function killWhilePromoting(id: string): Promise<void> {
  const client = new pg.Client({ connectionString: await databaseUrl() });
  await client.connect();
  await client.query(`BEGIN; SELECT FROM deployments WHERE slug = 'desk' FOR NO KEY UPDATE`);
  for (;;) {
    const { body } = await send('GET', `/v1/test-runs/${id}`);
    expect(body.status).toBe('running');
    if (body.counts.passed === scenarios) break;
    await sleep(100);
  }
  await server.kill('SIGKILL');
  await client.end();
  server = await start();
}

async function ended(id: string): Promise<ApiResponse['body']> {
  for (const deadline = Date.now() + 180_000; ; ) {
    const { body, text } = await send('GET', `/v1/test-runs/${id}`);
    if (body.status !== 'queued' && body.status !== 'running') return body;
    if (Date.now() > deadline) throw new Error(`The run never ended: ${text}`);
    await sleep(100);
  }
}

/** Each scenario has one conversation, in which every line was said once. */
async function assertPlayedOnce({ results }: ApiResponse['body']): Promise<void> {
  for (const [at, { transcript, conversation_id, cost_usd }] of results.entries()) {
    const ask = `What about number${at}?`;
    expect(transcript).toEqual([
      { role: 'user', text: ask },
      { role: 'agent', text: `It is Friday. ${ask}` },
      { role: 'user', text: 'And the day after?' },
      { role: 'agent', text: 'It is Friday. And the day after?' },
    ]);
    const [spent] = await query<{ usd: string }>(
      await databaseUrl(),
      `SELECT sum(amount_micros) / 1000000.0 AS usd FROM ledger_entries WHERE account = 'spend' AND conversation_id = $1`,
      [conversation_id],
    );
    expect(cost_usd).toBeCloseTo(Number(spent?.usd), 5);
  }
  const [hidden] = await query<{ count: string }>(
    await databaseUrl(),
    `SELECT count(*) FROM conversations WHERE is_hidden AND deployment_version = (SELECT max(version) FROM deployment_versions)`,
  );
  expect(Number(hidden?.count)).toBe(scenarios);
}

async function assertPromotedOnce(round: number, runId: string): Promise<void> {
  expect((await send('GET', '/v1/deployments/desk')).body.live_version).toBe(round);
  const { body } = await send('GET', '/v1/events?limit=100');
  const promoted = body.data.filter(({ type }: { type: string }) => type === 'deployment.promoted');
  expect(promoted).toHaveLength(round);
  const told = body.data.filter(
    ({ type, data }: ApiResponse['body']) => type === 'test_run.completed' && data.id === runId,
  );
  expect(told).toHaveLength(1);
}
