import { startScriptedModelServer } from '@vestra/models/testing/scripted-server';
import { type CuttableLink, linkTo } from '@vestra/server/platform/db/cuttable-link.fixture';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { serveTools } from '../packages/server/src/agents/mcp-client/tool-server.fixture.ts';
import { query } from './support/database.ts';
import { startTestServer, type TestServer } from './support/server.ts';

/** One server behind a network that can be cut, and one beside it on the same database. */
let link: CuttableLink;
let cuttable: TestServer;
let beside: TestServer;
let model: Awaited<ReturnType<typeof startScriptedModelServer>>;
let shop: Awaited<ReturnType<typeof serveTools>>;
let touches = 0;
let touch: () => Promise<void> = async () => {};

/** Short, so that a process without a network is soon taken over, and long enough for one that works. */
const runs = { leaseMs: 1_500, renewEveryMs: 300, sweepEveryMs: 300 };

beforeAll(async () => {
  model = await startScriptedModelServer({
    respond: ({ messages, tools }) => {
      const isDone = messages.at(-1)?.role === 'tool';
      const name = tools.find((each) => each.name.endsWith('touch'))?.name ?? 'touch';
      return isDone ? { text: ['Well ', 'done.'] } : { calls: [{ name, arguments: {} }] };
    },
  });
  shop = await serveTools([{ name: 'touch', inputSchema: { type: 'object' } }], async () => {
    touches += 1;
    await touch();
    return 'touched';
  });
  const env = {
    OPENAI_COMPATIBLE_BASE_URL: model.baseUrls.compatible,
    OPENAI_COMPATIBLE_MODELS: 'scripted',
    VESTRA_DEFAULT_MODEL: 'compatible/scripted',
    VESTRA_ALLOW_PRIVATE_ADDRESSES: '1',
  };
  beside = await startTestServer({ env, runs });
  link = await linkTo(beside.connectionString);
  cuttable = await startTestServer({ env: { ...env, DATABASE_URL: link.url }, beside, runs });
  const file = {
    name: 'desk',
    memory: 'none',
    tools: [{ mcp: shop.url, name: 'shop', run_without_asking: ['touch'] }],
  };
  expect((await beside.call('PUT', '/v1/deployments/desk?promote=now', { body: file })).status).toBe(200);
});
afterAll(async () => {
  await beside?.stop();
  await model?.close();
  await shop?.close();
  await link?.close();
});

const outputsOf = async (conversationId: string) =>
  (
    await query<{ output: string }>(
      beside.connectionString,
      'SELECT output FROM run_calls WHERE run_id IN (SELECT id FROM turns WHERE conversation_id = $1)',
      [conversationId],
    )
  ).map(({ output }) => output);

const settled = (id: string) =>
  vi.waitFor(
    async () => {
      const { body } = await beside.call('GET', `/v1/conversations/${id}`);
      expect(body.status).toBe('idle');
      return body;
    },
    { timeout: 20_000, interval: 50 },
  );

describe('a process that loses the network to its database', () => {
  it('for a moment, while a tool runs: the result is recorded once it is back, and followers miss nothing [FOV-005, FOV-006]', async () => {
    touches = 0;
    touch = async () => {
      link.cut();
      const { status, body } = await cuttable.call('GET', '/v1/conversations');
      expect([status, body.error.code]).toEqual([503, 'not_ready']);
      setTimeout(link.restore, 400);
    };
    const { body: made } = await cuttable.call('POST', '/v1/conversations', { body: { message: 'Touch it.' } });
    await settled(made.id);
    touch = async () => {};
    expect(touches).toBe(1);
    const { body: log } = await cuttable.call('GET', `/v1/conversations/${made.id}/events?format=json`);
    expect(log.data.map(({ seq }: { seq: number }) => seq)).toEqual(log.data.map((_: unknown, at: number) => at + 1));
    expect(await outputsOf(made.id)).toEqual(['touched']);
  });

  it('until another takes over: its late writes have no effect, and the tool runs once [FOV-007]', async () => {
    touches = 0;
    let isTakenOver = false;
    touch = async () => {
      link.cut();
      await vi.waitFor(async () => expect(isTakenOver).toBe(true), { timeout: 20_000 });
      link.restore();
    };
    const { body: made } = await cuttable.call('POST', '/v1/conversations', { body: { message: 'Touch it.' } });
    await settled(made.id);
    const [before] = await outputsOf(made.id);
    isTakenOver = true;
    // The first process has its result now, and is told that the run is another's.
    await vi.waitFor(async () => expect((await cuttable.call('GET', '/v1/conversations')).status).toBe(200), {
      timeout: 20_000,
    });
    touch = async () => {};
    expect(touches).toBe(1);
    expect(before).toMatch(/outcome is unknown/);
    expect(await outputsOf(made.id)).toEqual([before]);
    const { body: said } = await beside.call('GET', `/v1/conversations/${made.id}/messages`);
    expect(said.data.map(({ role }: { role: string }) => role).sort()).toEqual(['agent', 'user']);
  });

  it('whose clock jumps keeps sessions alive and messages in order [FOV-011]', async () => {
    const { body: made } = await cuttable.call('POST', '/v1/conversations', {
      body: { user_id: 'ann', message: 'Touch it.' },
    });
    const { body: session } = await cuttable.call('POST', '/v1/sessions', {
      body: { user_id: 'ann', conversation_id: made.id, chat: true },
    });
    const say = async (message: string) => {
      await settled(made.id);
      const path = `/v1/conversations/${made.id}/messages`;
      return (await cuttable.call('POST', path, { key: session.token, body: { message } })).status;
    };
    try {
      const hour = 3_600_000;
      const now = Date.now();
      vi.useFakeTimers({ toFake: ['Date'], now: now + 2 * hour });
      expect(await say('Two hours ahead.')).toBe(202);
      vi.setSystemTime(now - 2 * hour);
      expect(await say('Two hours behind.')).toBe(202);
      await settled(made.id);
    } finally {
      vi.useRealTimers();
    }
    const { body: said } = await cuttable.call('GET', `/v1/conversations/${made.id}/messages`);
    const asked = said.data.filter(({ role }: { role: string }) => role === 'user');
    expect(asked.map(({ text }: { text: string }) => text)).toEqual([
      'Two hours behind.',
      'Two hours ahead.',
      'Touch it.',
    ]);
  });

  it('stops on SIGTERM while the database is still unreachable [FOV-008]', async () => {
    link.cut();
    await cuttable.stop();
  });
});
