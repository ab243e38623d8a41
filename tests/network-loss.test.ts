import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NormalisedRequest, ScriptedAnswer } from '@vestra/models/testing/scripted-answer';
import { startScriptedModelServer } from '@vestra/models/testing/scripted-server';
import { type CuttableLink, linkTo } from '@vestra/server/platform/db/cuttable-link.fixture';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { serveTools } from '../packages/server/src/agents/mcp-client/tool-server.fixture.ts';
import { partOf } from './support/cast.ts';
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

/** The only worker of another database. Its leases outlast every outage of these tests. */
let lone: TestServer;
/** Serves requests on that database and is never cut off. */
let observer: TestServer;
let loneLink: CuttableLink;
/** The steps for which the model was asked, by the token of the message. */
const asked = new Map<string, string[]>();
/** Called with each request of the model about a token, before its answer. */
let onAsked: (token: string, step: string) => Promise<void> = async () => {};

/** The message “token x as k” is answered as its kind demands. Null for any other request. */
async function respondInOutage(request: NormalisedRequest): Promise<ScriptedAnswer | null> {
  const read = JSON.stringify(request.messages);
  const [, token, kind] = /token (\S+) as (\w+)/.exec(read) ?? [];
  if (token === undefined) return null;
  const isRun = request.messages.at(-1)?.role === 'tool';
  const step = partOf(request) === 'judge' ? 'judge' : kind === 'steps' && !isRun ? 'plan' : 'answer';
  asked.set(token, [...(asked.get(token) ?? []), step]);
  await onAsked(token, step);
  const usage = { inputTokens: 1_000, outputTokens: 1_000 };
  if (step === 'judge') {
    const criteria = [{ text: 'Good.', met: true, reason: `“${token}”` }];
    return { text: JSON.stringify({ criteria, must_never: [] }), usage };
  }
  if (step === 'plan') {
    const steps = [{ content: 'Answer', status: 'in_progress' }];
    return { calls: [{ name: 'update_plan', arguments: { steps } }], usage };
  }
  if (kind === 'broken') return { fail: 400 };
  if (kind !== 'slow') return { text: `Done ${token}.`, usage };
  return { text: ['Done ', ...Array.from({ length: 8 }, () => ''), `${token}.`], chunkDelayMs: 40, usage };
}

/** Short, so that a process without a network is soon taken over, and long enough for one that works. */
const runs = { leaseMs: 1_500, renewEveryMs: 300, sweepEveryMs: 300 };

beforeAll(async () => {
  model = await startScriptedModelServer({
    respond: async (request) => {
      const outage = await respondInOutage(request);
      if (outage) return outage;
      const { messages, tools } = request;
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
  observer = await startTestServer({ env: { ...env, VESTRA_ROLE: 'api' } });
  loneLink = await linkTo(observer.connectionString);
  const patient = { ...runs, leaseMs: 600_000 };
  lone = await startTestServer({ env: { ...env, DATABASE_URL: loneLink.url }, beside: observer, runs: patient });
  const plain = { name: 'plain', memory: 'none' };
  expect((await observer.call('PUT', '/v1/deployments/plain?promote=now', { body: plain })).status).toBe(200);
  const file = {
    name: 'desk',
    memory: 'none',
    tools: [{ mcp: shop.url, name: 'shop', run_without_asking: ['touch'] }],
  };
  expect((await beside.call('PUT', '/v1/deployments/desk?promote=now', { body: file })).status).toBe(200);
});
afterAll(async () => {
  await lone?.stop();
  await observer?.stop();
  await loneLink?.close();
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

describe('a model call that ends while the database is unreachable', () => {
  const kinds = {
    plain: [{}, ['answer']],
    slow: [{}, ['answer']],
    broken: [{}, ['answer']],
    task: [{ hand_off: 'always' }, ['answer']],
    steps: [{ hand_off: 'always' }, ['plan', 'answer']],
    judged: [{ success_criteria: 'Good.' }, ['answer', 'judge']],
  } as const satisfies Record<string, readonly [object, readonly string[]]>;
  type Kind = keyof typeof kinds;

  const settledLong = (id: string) =>
    vi.waitFor(async () => expect((await observer.call('GET', `/v1/conversations/${id}`)).body.status).toBe('idle'), {
      timeout: 120_000,
      interval: 50,
    });

  /** As a careful client does: again under the same key until somebody answers. */
  async function send(token: string, kind: Kind): Promise<string> {
    const body = { message: `token ${token} as ${kind}`, ...kinds[kind][0] };
    for (;;) {
      const headers = { 'idempotency-key': token };
      const made = await lone.call('POST', '/v1/conversations', { body, headers }).catch(() => null);
      if (made?.status === 201) return made.body.id;
      await sleep(50);
    }
  }

  /** Everything about the conversation was recorded once, and the model was asked once for each step. */
  async function expectOnce(token: string, kind: Kind, id: string): Promise<void> {
    expect([token, asked.get(token)]).toEqual([token, kinds[kind][1]]);
    const { body: log } = await observer.call('GET', `/v1/conversations/${id}/events?format=json&limit=100`);
    const seqs = log.data.map(({ seq }: { seq: number }) => seq);
    expect(seqs).toEqual(seqs.map((_: number, at: number) => at + 1));
    const settledTurns = log.data.filter(({ type }: { type: string }) => type === 'turn.settled');
    expect(settledTurns).toHaveLength(1);
    const { body: said } = await observer.call('GET', `/v1/conversations/${id}/messages`);
    const answers = said.data.filter(({ text }: { text: string }) => text === `Done ${token}.`);
    const isBroken = kind === 'broken';
    expect([settledTurns[0].data.turn.status, answers.length]).toEqual(isBroken ? ['failed', 0] : ['settled', 1]);
    if (kind === 'plain' || kind === 'slow') {
      const deltas = log.data
        .filter(
          ({ type, data }: { type: string; data: { message_id: string } }) =>
            type === 'reply.delta' && data.message_id === answers[0].id,
        )
        .map(({ data }: { data: { text: string } }) => data.text);
      expect(deltas.join('')).toBe(`Done ${token}.`);
    }
    const { body: items } = await observer.call('GET', `/v1/usage/line-items?conversation_id=${id}&limit=100`);
    const calls = items.data.filter(({ unit }: { unit: string }) => unit === 'input_tokens');
    expect([token, calls.length]).toEqual([token, isBroken ? 0 : kinds[kind][1].length]);
  }

  it.each(Object.keys(kinds) as Kind[])(
    'is recorded when it is back, charged once and not made again: %s [FOV-700, FOV-701]',
    async (kind) => {
      const token = randomUUID();
      let outages = 0;
      onAsked = async (of) => {
        if (of !== token) return;
        outages += 1;
        loneLink.cut();
        setTimeout(loneLink.restore, 300);
      };
      const id = await send(token, kind);
      await settledLong(id);
      onAsked = async () => {};
      expect(outages).toBe(kinds[kind][1].length);
      await expectOnce(token, kind, id);
      const left = await query(
        observer.connectionString,
        'SELECT id FROM runs WHERE id IN (SELECT id FROM turns WHERE conversation_id = $1)',
        [id],
      );
      expect(left).toEqual([]);
    },
    180_000,
  );

  /** Matches the write of the answer itself, or the COMMIT that follows it on the same connection. */
  const writesOf = (marker: string, isTransaction: boolean) => {
    let isWritten = false;
    return (sent: Buffer) => {
      const isMarked = sent.includes(marker);
      const isMatch = isTransaction ? isWritten && sent.includes('COMMIT') : isMarked;
      isWritten ||= isMarked;
      return isMatch;
    };
  };

  it.each<[Kind, string, boolean]>([
    ['plain', 'Done', false],
    ['slow', 'Done', false],
    ['broken', 'model_error', true],
    ['task', 'Done', false],
    ['steps', 'update_plan', true],
    ['judged', '“', true],
  ])(
    'is recorded once if its commit is stored and never confirmed: %s [FOV-702]',
    async (kind, marker, isTransaction) => {
      const token = randomUUID();
      let isBroken = () => false;
      onAsked = async (of, step) => {
        if (of !== token || step !== (kind === 'judged' ? 'judge' : kinds[kind][1][0])) return;
        isBroken = loneLink.breakAt(writesOf(marker, isTransaction), 'after');
      };
      const id = await send(token, kind);
      await settledLong(id);
      onAsked = async () => {};
      expect(isBroken()).toBe(true);
      await expectOnce(token, kind, id);
    },
    180_000,
  );

  it('is followed by the next one at once if the connection breaks between them [FOV-701]', async () => {
    // New connections have no prepared statements, so the first use of each sends its text.
    loneLink.cut();
    loneLink.restore();
    const isBroken = loneLink.breakAt((sent) => sent.includes('work_notes'), 'before');
    const token = randomUUID();
    const id = await send(token, 'steps');
    // Without the process that was interrupted, the run would wait for its lease of ten minutes.
    await settledLong(id);
    expect(isBroken()).toBe(true);
    await expectOnce(token, 'steps', id);
  }, 180_000);

  it('is neither lost nor doubled in ten outages under load, wherever the connection breaks [FOV-702]', async () => {
    const sent: { token: string; kind: Kind; id: Promise<string> }[] = [];
    for (let blip = 0; blip < 10; blip++) {
      for (const kind of Object.keys(kinds) as Kind[]) {
        const token = randomUUID();
        sent.push({ token, kind, id: send(token, kind) });
      }
      // The connections break after so many statements, some of them between a commit and its confirmation.
      let messages = 3 + 5 * blip;
      const isCut = loneLink.breakAt(() => --messages <= 0, blip % 2 === 0 ? 'after' : 'before');
      await vi.waitFor(() => expect(isCut()).toBe(true), { timeout: 60_000, interval: 5 });
      loneLink.cut();
      await sleep(50);
      loneLink.restore();
    }
    for (const { token, kind, id } of sent) {
      await settledLong(await id);
      await expectOnce(token, kind, await id);
    }
  }, 300_000);
});
