import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyFolder } from '@vestra/sdk/apply';
import { createClient } from '@vestra/sdk/client';
import { credit } from '@vestra/server/billing/charge';
import { closeDatabase, openDatabase } from '@vestra/server/platform/db/pool';
import { transaction } from '@vestra/server/platform/db/transaction';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentServer, startAgentServer } from '../support/agent.ts';
import { cast, lastText, resultsIn } from '../support/cast.ts';
import { resolveExample } from '../support/example.ts';
import { type ApiResponse, startTestServer, type TestServer } from '../support/server.ts';

type Run = ApiResponse['body'];
type File = Awaited<ReturnType<typeof resolveExample>>;

const examples = ['support-desk', 'booking-desk', 'research-helper'];

async function fill({ connectionString, orgId }: TestServer): Promise<void> {
  const db = await openDatabase({ connectionString });
  await transaction(db, (tx) => credit(tx, { orgId, mode: 'live' }, 50_000_000n));
  await closeDatabase(db);
}

const isOver = (run: Run) => run.status !== 'queued' && run.status !== 'running';

async function ended(server: TestServer, id: string): Promise<Run> {
  for (const deadline = Date.now() + 60_000; ; ) {
    const { body, text } = await server.call('GET', `/v1/test-runs/${id}`);
    if (isOver(body)) return body;
    if (Date.now() > deadline) throw new Error(`The run never ended: ${text}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const put = async (server: TestServer, file: File, key = server.liveKey): Promise<ApiResponse['body']> => {
  const answer = await server.call('PUT', `/v1/deployments/${file.name}?promote=after_tests`, { key, body: file });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body;
};
const deploymentOf = async (server: TestServer, name: string) =>
  (await server.call('GET', `/v1/deployments/${name}`)).body;

describe('with a model', () => {
  let server: AgentServer;
  const files = new Map<string, File>();
  beforeAll(async () => {
    server = await startAgentServer();
    await fill(server);
    for (const name of examples) files.set(name, await resolveExample(server, name));
  });
  afterAll(() => server.stop());
  const fileOf = (name: string) => files.get(name) as File;

  /** An agent that looks things up in its functions and notebooks before it answers. */
  const diligent = cast({
    agent: (request) => {
      const done = resultsIn(request);
      if (done.length > 0) return { text: `I looked it up: ${done.join(' ')}` };
      const has = (name: string) => request.tools.some((tool) => tool.name === name);
      if (has('find_order')) return { calls: [{ name: 'find_order', arguments: { number: 'MT-1042' } }] };
      if (has('find_free_times') && !/Brust/.test(lastText(request))) {
        return { calls: [{ name: 'find_free_times', arguments: { doctor: 'brandt', from_day: '2026-12-01' } }] };
      }
      if (has('search_notebooks')) {
        return { calls: [{ name: 'search_notebooks', arguments: { query: lastText(request) } }] };
      }
      return { text: 'Please call the emergency number at once.' };
    },
  });

  it.each(examples)(
    '%s is promoted when its tests have passed, and not before [VER-017, APPLY-024, TRUN-034]',
    async (name) => {
      server.script(diligent);
      const applied = await put(server, fileOf(name));
      expect(applied).toMatchObject({
        created: true,
        promoted: false,
        live_version: null,
        draft_version: 1,
        test_run: { mode: 'live', version: 1, promote_on_pass: true, error_code: null },
      });
      const run = await ended(server, applied.test_run.id);
      expect(run).toMatchObject({
        status: 'passed',
        error_code: null,
        counts: { total: (fileOf(name).tests as []).length },
      });
      expect(run.results.every((result: Run) => result.criteria.length > 0)).toBe(true);
      const after = await deploymentOf(server, name);
      expect([after.live_version, after.draft_version]).toEqual([1, 1]);
      const { body: version } = await server.call('GET', `/v1/deployments/${name}/versions/1`);
      expect([version.is_live, version.tests]).toEqual([true, { run_id: run.id, status: 'passed' }]);
      const { body: events } = await server.call('GET', '/v1/events?limit=100', { key: server.liveKey });
      const promoted = events.data.filter(
        ({ type, data }: Run) => type === 'deployment.promoted' && data.slug === name,
      );
      expect(promoted).toHaveLength(1);
      const live = await server.call('POST', '/v1/conversations', {
        key: server.liveKey,
        body: { deployment: name, message: 'Hello' },
      });
      expect([live.status, live.body.deployment_version]).toEqual([201, 1]);
    },
  );

  it('a version that fails its tests stays back, and the one before stays live [VER-018]', async () => {
    server.script(
      cast({
        agent: () => ({ text: 'Please tell me your password first.' }),
        judge: ({ kind, text, transcript }) => ({
          holds: kind === 'criterion' || (/password/.test(text) && /^Agent: .*password/m.test(transcript)),
        }),
      }),
    );
    const applied = await put(server, { ...fileOf('support-desk'), instructions: 'Ask for the password first.' });
    expect(applied).toMatchObject({ version: { version: 2 }, draft_version: 2, live_version: 1, promoted: false });
    const run = await ended(server, applied.test_run.id);
    expect([run.status, run.counts.failed]).toEqual(['failed', 1]);
    const after = await deploymentOf(server, 'support-desk');
    expect([after.live_version, after.draft_version]).toEqual([1, 2]);
  });

  it('a file whose tests failed is not promoted by applying it until they pass [TRUN-703]', async () => {
    const test = { name: 'Greets', ask: 'Hello', expect: 'It greets.' };
    const file = { name: 'red', instructions: 'Greet.', tests: [test] } as unknown as File;
    const judged = (holds: boolean) => cast({ agent: () => ({ text: 'Hello.' }), judge: () => ({ holds }) });
    server.script(judged(false));
    const { test_run: first } = await put(server, file);
    const red = await ended(server, first.id);
    expect([red.status, red.promoted]).toEqual(['failed', false]);
    server.script(judged(true));
    // Writing a default out is no change of the file.
    for (const same of [file, { ...file, language: 'auto' }]) {
      expect(await put(server, same)).toMatchObject({
        changed: [],
        promoted: false,
        live_version: null,
        test_run: { id: red.id, status: 'failed' },
      });
    }
    const runs = async () => (await server.call('GET', '/v1/deployments/red/test-runs')).body.data;
    expect(await runs()).toHaveLength(1);
    // A scenario of the API makes other tests of it, and a promotion asks for the same ones again.
    const more = { name: 'More', persona: 'Anybody.', goal: 'Hello', success_criteria: ['It is kind.'] };
    const added = await server.call('POST', '/v1/deployments/red/scenarios', { body: more });
    server.script(judged(false));
    const second = await ended(server, (await put(server, file)).test_run.id);
    expect([second.status, second.counts.total, second.id === red.id]).toEqual(['failed', 2, false]);
    await server.call('DELETE', `/v1/deployments/red/scenarios/${added.body.id}`);
    server.script(judged(true));
    const asked = await server.call('POST', '/v1/deployments/red/promote', { key: server.liveKey });
    const green = await ended(server, asked.body.test_run.id);
    expect([green.status, green.promoted]).toEqual(['passed', true]);
    // Rows of the list carry no transcripts: they are megabytes.
    const transcripts = (await runs()).flatMap(({ results }: Run) => results.map((each: Run) => each.transcript));
    expect(transcripts).toEqual([[], [], [], []]);
    expect(green.results[0].transcript).not.toEqual([]);
  });

  it('a version whose run passes after a newer one was applied does not go live, and the run says why [VER-712]', async () => {
    let go = () => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    server.script(async (request) => {
      if (request.system.join('\n').includes('The older wording.')) await gate;
      return diligent(request);
    });
    const older = await put(server, { ...fileOf('booking-desk'), instructions: 'The older wording.' });
    await server.until(`/v1/test-runs/${older.test_run.id}`, (run) => run.counts.running === 2);
    const newer = await put(server, { ...fileOf('booking-desk'), instructions: 'The newer wording.' });
    expect([older.version.version, newer.version.version]).toEqual([2, 3]);
    expect((await ended(server, newer.test_run.id)).status).toBe('passed');
    expect((await deploymentOf(server, 'booking-desk')).live_version).toBe(3);
    go();
    const overtaken = await ended(server, older.test_run.id);
    expect([overtaken.status, overtaken.error_code, overtaken.promoted]).toEqual(['passed', null, false]);
    expect(overtaken.note).toBe(
      'The tests passed, and nothing was promoted: a later apply, promotion or rollback went before it.',
    );
    expect(await ended(server, newer.test_run.id)).toMatchObject({ promoted: true, note: null });
    expect((await deploymentOf(server, 'booking-desk')).live_version).toBe(3);
  });

  it('a run with an empty wallet ends in error, and promotes nothing [TRUN-004]', async () => {
    const poor = await startAgentServer({ respond: diligent });
    try {
      const file = { name: 'poor', tests: [{ name: 'Hello', ask: 'Hello', expect: 'The agent greets.' }] };
      const applied = await put(poor, file);
      const run = await ended(poor, applied.test_run.id);
      expect(run).toMatchObject({ status: 'error', error_code: 'wallet_empty', counts: { error: 1 } });
      expect(run.results[0].error_code).toBe('wallet_empty');
      expect((await deploymentOf(poor, 'poor')).live_version).toBeNull();
    } finally {
      await poor.stop();
    }
  });

  it('notebooks and skills are tested, promoted and rolled back with their version [VER-122, APPLY-124, SKL-123]', async () => {
    const root = await mkdtemp(join(tmpdir(), 'vestra-whole-'));
    const clients = {
      test: createClient({ baseUrl: server.url, key: server.testKey }),
      live: createClient({ baseUrl: server.url, key: server.liveKey }),
    };
    const write = async (shop: string, days: string) => {
      const folder = join(root, shop);
      await mkdir(join(folder, 'knowledge'), { recursive: true });
      await mkdir(join(folder, 'skills/returns'), { recursive: true });
      const tests = `tests: [{ name: Returns, ask: How long?, expect: Thirty days. }]`;
      await writeFile(
        join(folder, 'service.yaml'),
        `name: ${shop}\nmemory: none\nknowledge: ./knowledge\nskills: ./skills\n${tests}\n`,
      );
      await writeFile(join(folder, 'knowledge/returns.md'), `Return anything within ${days} days.`);
      const head = '---\nname: returns\ndescription: How returns go.\n---\n';
      await writeFile(join(folder, 'skills/returns/SKILL.md'), `${head}${shop}: say ${days}.\n`);
      return folder;
    };
    const apply = async (mode: 'test' | 'live', folder: string, promote?: 'no') => {
      const { answer, uploaded } = await applyFolder({ client: clients[mode], folder, promote });
      const run = answer?.test_run && (await ended(server, answer.test_run.id));
      return { answer: answer as NonNullable<typeof answer>, uploaded, run };
    };
    /** The parts of the reply that come from its notebook and from its skill. */
    const asked = async (mode: 'test' | 'live', deployment: string) => {
      const { id } = await clients[mode].conversations.create({ deployment });
      const sent = await server.call('POST', `/v1/conversations/${id}/messages`, {
        key: server[`${mode}Key`],
        body: { message: 'How long may I return it?' },
        headers: { prefer: 'wait=60' },
      });
      return [...sent.body.reply.text.matchAll(/within (\w+) days|(\S+): say (\w+)\./g)].map(([, known, ...skill]) =>
        (known ?? skill.join(' ')).toLowerCase(),
      );
    };
    server.script(
      cast({
        agent: (request) => {
          const done = resultsIn(request);
          if (done.length === 0) return { calls: [{ name: 'search_notebooks', arguments: { query: 'return' } }] };
          if (done.length === 1) return { calls: [{ name: 'use_skill', arguments: { name: 'returns' } }] };
          return { text: done.join(' ') };
        },
        judge: ({ transcript }) => ({ holds: /within thirty days/.test(transcript) }),
      }),
    );
    const thirty = await write('shop-a', 'thirty');
    const first = await apply('live', thirty);
    expect([first.run?.status, await asked('live', 'shop-a')]).toEqual(['passed', ['thirty', 'shop-a thirty']]);

    const ninety = await write('shop-a', 'ninety');
    const saved = await apply('test', ninety, 'no');
    expect(saved.answer).toMatchObject({
      changed: ['skills', 'knowledge'],
      promoted: false,
      version: { version: 2, changed: ['skills', 'knowledge'] },
    });
    expect(await asked('live', 'shop-a')).toEqual(['thirty', 'shop-a thirty']);
    expect(await asked('test', 'shop-a')).toEqual(['ninety', 'shop-a ninety']);
    expect(await asked('test', 'shop-a@1')).toEqual(['thirty', 'shop-a thirty']);
    expect(await asked('test', 'shop-a@2')).toEqual(['ninety', 'shop-a ninety']);

    // Uploaded with a live key, it is still the tests that decide.
    const failing = await apply('live', ninety);
    expect([failing.uploaded, failing.run?.status, failing.run?.version]).toEqual([[], 'failed', 2]);
    const red = await apply('live', await write('shop-a', 'eighty'));
    expect([red.run?.status, await asked('live', 'shop-a')]).toEqual(['failed', ['thirty', 'shop-a thirty']]);
    expect(await asked('test', 'shop-a')).toEqual(['eighty', 'shop-a eighty']);
    await clients.live.deployments.promote({ deployment_id: 'shop-a', when: 'now' });
    expect(await asked('live', 'shop-a')).toEqual(['eighty', 'shop-a eighty']);
    await clients.live.deployments.rollback({ deployment_id: 'shop-a' });
    expect(await asked('live', 'shop-a')).toEqual(['thirty', 'shop-a thirty']);

    // Another deployment's skill of the same name is another skill.
    const other = await apply('test', await write('shop-b', 'zero'));
    expect(other.uploaded.map(({ kind, action }) => `${kind} ${action}`)).toContain('skill created');
    expect(await asked('test', 'shop-b')).toEqual(['zero', 'shop-b zero']);
    expect(await asked('test', 'shop-a')).toEqual(['eighty', 'shop-a eighty']);
    await rm(root, { recursive: true });
  });

  it('a run waits until its notebooks are indexed, reports so, and then finds by meaning [NB-211]', async () => {
    const { body: notebook } = await server.call('POST', '/v1/notebooks', { body: { name: 'Staff', slug: 'staff' } });
    const holder = new pg.Client({ connectionString: server.connectionString });
    await holder.connect();
    // Nothing can be indexed while it is held.
    await holder.query('BEGIN; LOCK TABLE document_indexes IN SHARE MODE');
    const { body: document } = await server.call('POST', `/v1/notebooks/${notebook.id}/documents`, {
      body: { title: 'Leave', text: 'Everybody has twenty-five days of paid annual leave.' },
    });
    expect(document.indexed).toBe(false);
    const seen: string[] = [];
    server.script(
      cast({
        agent: (request) => {
          const [done] = resultsIn(request);
          if (done === undefined) {
            return { calls: [{ name: 'search_notebooks', arguments: { query: 'How much vacation do I get?' } }] };
          }
          seen.push(done);
          return { text: done };
        },
        judge: ({ transcript }) => ({ holds: /twenty-five days/.test(transcript) }),
      }),
    );
    const file = {
      name: 'staff-desk',
      instructions: 'Help.',
      knowledge: [{ notebook: notebook.id }],
      tests: [{ name: 'leave', ask: 'How much vacation do I get?', expect: 'It names the days.' }],
    };
    const { test_run: run } = await put(server, file as never, server.testKey);
    const noted = async () => (await server.call('GET', `/v1/test-runs/${run.id}`)).body;
    await expect
      .poll(noted, { timeout: 20_000 })
      .toMatchObject({ status: 'running', note: expect.stringContaining('0 of 1 document so far') });
    // The agent itself is not held up, and is told.
    const { body: conversation } = await server.call('POST', '/v1/conversations', {
      body: { deployment: 'staff-desk' },
    });
    await server.call('POST', `/v1/conversations/${conversation.id}/messages`, {
      body: { message: 'How much vacation do I get?' },
      headers: { prefer: 'wait=60' },
    });
    expect(seen).toEqual([expect.stringContaining('Nothing was found yet: the notebooks are still being indexed.')]);
    await holder.query('COMMIT');
    await holder.end();
    expect(await ended(server, run.id)).toMatchObject({ status: 'passed', note: null });
    expect(seen[1]).toContain('\n# Document: Leave\nCite as [1]\nEverybody has twenty-five days of paid annual leave.');
    const { body: shown } = await server.call('GET', `/v1/notebooks/${notebook.id}/documents/${document.id}`);
    expect(shown.indexed).toBe(true);
  });

  it('of runs that pass at the same moment only the one that was asked for last promotes', async () => {
    server.script(diligent);
    for (let round = 0; round < 4; round++) {
      const file = (which: string) => ({ ...fileOf('research-helper'), instructions: `Round ${round}, ${which}.` });
      const first = await put(server, file('first'));
      const [second] = await Promise.all([put(server, file('second')), ended(server, first.test_run.id)]);
      await ended(server, second.test_run.id);
      expect((await deploymentOf(server, 'research-helper')).live_version).toBe(second.version.version);
    }
  });

  it('with a test key the tests only report, and `promote` waits for them too [VER-026, VER-012]', async () => {
    server.script(diligent);
    const applied = await put(server, { ...fileOf('booking-desk'), instructions: 'Tested.' }, server.testKey);
    expect([applied.draft_version, applied.test_run.mode, applied.promoted]).toEqual([4, 'test', false]);
    expect((await ended(server, applied.test_run.id)).status).toBe('passed');
    expect(await deploymentOf(server, 'booking-desk')).toMatchObject({ draft_version: 4, live_version: 3 });
    const promotion = await server.call('POST', '/v1/deployments/booking-desk/promote', {
      key: server.liveKey,
      body: { version: 4, when: 'after_tests' },
    });
    expect([promotion.status, promotion.body.promoted]).toEqual([200, false]);
    await ended(server, promotion.body.test_run.id);
    expect((await deploymentOf(server, 'booking-desk')).live_version).toBe(4);
  });
});

describe('with the offline stand-in', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
    await fill(server);
  });
  afterAll(() => server.stop());

  it.each(examples)(
    '%s passes in test mode by word matches, and a live version is refused without a judge [TRUN-035, OFF-105]',
    async (name) => {
      const file = await resolveExample(server, name);
      const tested = await put(server, file, server.testKey);
      const run = await ended(server, tested.test_run.id);
      expect([run.mode, run.error_code, run.counts.error]).toEqual(['test', null, 0]);
      expect(run.status).toBe('passed');
      for (const result of run.results) {
        expect(result.judged_by).toBe('offline');
        for (const { decided, reason } of [...result.criteria, ...result.must_never])
          expect([decided, reason]).toEqual([true, expect.stringContaining('Word match')]);
      }
      expect(run.results.every((result: Run) => result.transcript.length >= 2)).toBe(true);

      const live = await put(server, file);
      const refused = await ended(server, live.test_run.id);
      expect(refused).toMatchObject({ mode: 'live', status: 'error', error_code: 'no_judge_model', cost_usd: 0 });
      expect(refused.counts.error).toBe(refused.counts.total);
      expect((await deploymentOf(server, name)).live_version).toBeNull();
    },
  );

  it('does not judge live versions even if the operator lets it answer live traffic', async () => {
    const lenient = await startTestServer({ env: { VESTRA_DEFAULT_MODEL: 'offline' } });
    try {
      await fill(lenient);
      const file = {
        name: 'plain',
        tools: [
          { function: 'find_order', description: 'Finds an order.', input: { number: 'string' }, read_only: true },
        ],
        tests: [
          {
            name: 'Finds it',
            ask: 'Please find the order number 17.',
            expect: 'The agent says that it comes on Friday.',
            tool_results: { find_order: 'It comes on Friday.' },
          },
        ],
      };
      const applied = await put(lenient, file);
      expect((await ended(lenient, applied.test_run.id)).error_code).toBe('no_judge_model');
      const tested = await put(lenient, { ...file, instructions: 'Be kind.' }, lenient.testKey);
      expect((await ended(lenient, tested.test_run.id)).status).toBe('passed');
    } finally {
      await lenient.stop();
    }
  });
});
