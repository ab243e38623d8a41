import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type AgentServer, startAgentServer } from '../support/agent.ts';
import { query } from '../support/database.ts';
import { type ApiResponse, isOneProcess } from '../support/server.ts';

type Body = ApiResponse['body'];
type Asked = AgentServer['asked'][number];

let server: AgentServer;
beforeAll(async () => {
  server = await startAgentServer();
  await server.apply({ name: 'desk', instructions: 'Be kind.' });
});
afterAll(() => server.stop());

const create = (body: Record<string, unknown>, key = server.testKey) =>
  server.call('POST', '/v1/batches', { body, key });
const made = async (body: Record<string, unknown>) => {
  const answer = await create(body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
};
const itemsFor = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, at) => ({ user_id: `${prefix}-${at}`, message: `Item ${at}` }));
const finished = (id: string) => server.until(`/v1/batches/${id}`, ({ completed_at }) => completed_at !== null);
const items = async (id: string, limit = 100): Promise<Body[]> => {
  const all: Body[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body } = await server.call('GET', `/v1/batches/${id}/items?limit=${limit}${cursor && `&cursor=${cursor}`}`);
    all.push(...body.data);
    cursor = body.next_cursor;
  }
  return all;
};
const lastText = ({ messages }: Asked): string => {
  const last = messages.findLast(({ role }) => role === 'user');
  return last?.role === 'user' ? last.text : '';
};
const sumOf = (counts: Record<string, number>) => Object.values(counts).reduce((sum, each) => sum + each, 0);

/** Scripts the model for batch items. Requests for memory come later, without tools, and are not part of the batch. */
const script = (respond: (request: Asked) => ReturnType<Parameters<AgentServer['script']>[0]>) =>
  server.script((request) => (request.tools.length === 0 ? { text: '[]' } : respond(request)));
const worked = () => server.asked.filter(({ tools }) => tools.length > 0).map(lastText);

/** Model calls that wait until they are let go. */
function gate() {
  const waiting = new Map<string, () => void>();
  let isOpen = false;
  return {
    waiting,
    hold: (name: string) =>
      new Promise<void>((resolve) => {
        if (isOpen) resolve();
        else waiting.set(name, resolve);
      }),
    letGo(name: string) {
      waiting.get(name)?.();
      waiting.delete(name);
    },
    open() {
      isOpen = true;
      for (const name of [...waiting.keys()]) this.letGo(name);
    },
    async until(count: number) {
      const deadline = Date.now() + 30_000;
      while (waiting.size < count) {
        if (Date.now() > deadline) throw new Error(`Only ${waiting.size} of ${count} calls came.`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
  };
}

describe('a batch', () => {
  it('runs one conversation per item straight to work and ends [BAT-001, BAT-002, BAT-003, BAT-005, BAT-006, BAT-014, BAT-019, BAT-021, BAT-022, BAT-028]', async () => {
    script((request) => ({ text: `Done: ${lastText(request)}` }));
    const batch = await made({ items: itemsFor(7, 'one') });
    expect(batch).toEqual({
      object: 'batch',
      id: expect.stringMatching(/^bat_/),
      status: 'running',
      deployment_id: expect.stringMatching(/^dep_/),
      concurrency: 10,
      item_count: 7,
      counts: { queued: 7, running: 0, succeeded: 0, failed: 0, cancelled: 0 },
      spend_usd: 0,
      metadata: {},
      created_at: batch.created_at,
      completed_at: null,
    });
    const over = await finished(batch.id);
    expect(over).toMatchObject({
      status: 'completed',
      counts: { queued: 0, running: 0, succeeded: 7, failed: 0, cancelled: 0 },
    });
    const all = await items(batch.id);
    const conversations = new Set(all.map(({ conversation_id }) => conversation_id));
    expect(conversations.size).toBe(7);
    for (const each of all) {
      const task = await server.call('GET', `/v1/tasks/${each.task_id}`);
      expect(task.body).toMatchObject({ conversation_id: each.conversation_id, status: 'done', user_id: each.user_id });
    }
    // Each message was worked on by one call and never answered by a reply first.
    expect(worked().sort()).toEqual(Array.from({ length: 7 }, (_, at) => `Item ${at}`));
  });

  it('shows its items in the order sent, with result, labels and times [BAT-007, BAT-008, BAT-010, BAT-011, BAT-012, BAT-013, BAT-017, BAT-023, BAT-029, BAT-034]', async () => {
    script((request) => {
      const text = lastText(request);
      return text.includes('Break') ? { fail: 400, failMessage: 'No.' } : { text: `Read ${text.length > 0}` };
    });
    const batch = await made({
      items: [
        { user_id: 'anna', message: 'Read this', context: { order: 7 }, metadata: { row: 'a' } },
        { message: 'Break', metadata: { row: 'b' } },
        ...itemsFor(5, 'order'),
      ],
      metadata: { job: 'monthly' },
    });
    expect(batch.metadata).toEqual({ job: 'monthly' });
    await finished(batch.id);
    const all = await items(batch.id, 2);
    expect(all.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(all[0]).toEqual({
      object: 'batch.item',
      index: 0,
      user_id: 'anna',
      status: 'succeeded',
      conversation_id: expect.stringMatching(/^conv_/),
      task_id: expect.stringMatching(/^task_/),
      result: { reply: expect.stringMatching(/./), text: 'Read true', data: null, outcome: null },
      error: null,
      metadata: { row: 'a' },
      created_at: batch.created_at,
      finished_at: expect.stringMatching(/Z$/),
    });
    expect(all[1]).toMatchObject({
      user_id: null,
      status: 'failed',
      result: null,
      error: { code: expect.any(String), message: expect.any(String) },
      metadata: { row: 'b' },
      created_at: batch.created_at,
    });
    const read = server.asked.find((request) => lastText(request) === 'Read this');
    expect(read?.passing).toContain('{"order":7}');
    const { body } = await server.call('GET', `/v1/conversations/${all[0].conversation_id}/messages`);
    expect(body.data.map(({ role, text }: Body) => [role, text])).toEqual([
      ['work', 'Read true'],
      ['agent', all[0].result.reply],
      ['user', 'Read this'],
    ]);
  });

  it('costs the sum of its items in the ledger [BAT-004]', async () => {
    script(() => ({ text: 'Paid.', usage: { inputTokens: 1000, outputTokens: 100 } }));
    const batch = await made({ items: itemsFor(6, 'paid') });
    const { spend_usd } = await finished(batch.id);
    // A million tokens cost a dollar in and four out.
    expect(spend_usd).toBeCloseTo(6 * (0.001 + 0.0004), 8);
    let sum = 0;
    for (const { conversation_id } of await items(batch.id)) {
      sum += (await server.call('GET', `/v1/conversations/${conversation_id}`)).body.cost_usd;
    }
    expect(spend_usd).toBeCloseTo(sum, 8);
  });

  it('names the deployment by id or name, or uses the org’s default [BAT-015]', async () => {
    script(() => ({ text: 'Yes.' }));
    const other = await server.apply({ name: 'counter', instructions: 'Count.' });
    const byDefault = await made({ items: [{ message: 'Hi' }] });
    const byName = await made({ deployment: 'counter', items: [{ message: 'Hi' }] });
    const byId = await made({ deployment: other.body.id, items: [{ message: 'Hi' }] });
    expect(byDefault.deployment_id).not.toBe(other.body.id);
    expect([byName.deployment_id, byId.deployment_id]).toEqual([other.body.id, other.body.id]);
    for (const { id } of [byDefault, byName, byId]) await finished(id);
  });

  it.runIf(isOneProcess)('sends few statements per item to PostgreSQL [BAT-491]', async () => {
    script(() => ({ text: 'Yes.' }));
    await server.apply({ name: 'counted', instructions: 'Be kind.', memory: 'none' });
    const run = async (count: number) => {
      const { id } = await made({ deployment: 'counted', items: itemsFor(count, 'counted'), concurrency: 40 });
      expect((await finished(id)).counts.succeeded).toBe(count);
    };
    // The first ones prepare statements and fill caches.
    await run(5);
    const executed = vi.spyOn(pg.Connection.prototype, 'execute');
    await run(40);
    const statements = executed.mock.calls.length;
    executed.mockRestore();
    // Seven statements by themselves, plus background work and the polls of the batch's status.
    expect(statements / 40).toBeLessThanOrEqual(16);
  });

  it.runIf(isOneProcess)(
    'leaves to the queue what goes beyond its user’s share of a process [BAT-531, JOB-241]',
    async () => {
      const door = gate();
      script(async (request) => {
        await door.hold(lastText(request));
        return { text: 'Yes.' };
      });
      // Two more than one user may have where they were accepted: of the last group four have room and two have not.
      const all = itemsFor(66, 'crowd').map((item) => ({ ...item, user_id: 'crowd' }));
      const { id } = await made({ items: all, concurrency: 66 });
      try {
        await door.until(66);
        const queued = `SELECT count(*)::int AS jobs FROM jobs WHERE name = 'task.run' AND payload->>'user_id' = 'crowd'`;
        expect(await query(server.connectionString, queued)).toEqual([{ jobs: 2 }]);
      } finally {
        door.open();
      }
      expect((await finished(id)).counts.succeeded).toBe(66);
    },
  );

  it('emits one event when it ends, and is listed newest first [BAT-031, BAT-033]', async () => {
    script(() => ({ text: 'Yes.' }));
    const ids: string[] = [];
    for (let count = 0; count < 3; count++) {
      const { id } = await made({ items: itemsFor(2, `told-${count}`) });
      await finished(id);
      ids.unshift(id);
    }
    const first = await server.call('GET', '/v1/batches?limit=2');
    const second = await server.call('GET', `/v1/batches?limit=2&cursor=${first.body.next_cursor}`);
    expect([...first.body.data, ...second.body.data].map(({ id }: Body) => id).slice(0, 3)).toEqual(ids);
    const { body } = await server.call('GET', '/v1/events?type=batch.completed&limit=100');
    for (const id of ids) {
      const told = body.data.filter(({ data }: Body) => data.id === id);
      expect(told).toHaveLength(1);
      expect(told[0].data).toEqual((await server.call('GET', `/v1/batches/${id}`)).body);
    }
  });

  it('is the org’s own: neither another mode nor an unknown id finds it [BAT-039]', async () => {
    script(() => ({ text: 'Yes.' }));
    const { id } = await made({ items: [{ message: 'Hi' }] });
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/items'],
      ['POST', '/cancel'],
    ] as const) {
      const live = await server.call(method, `/v1/batches/${id}${path}`, { key: server.liveKey });
      const unknown = await server.call(method, `/v1/batches/bat_${'0'.repeat(24)}${path}`);
      for (const { status, body } of [live, unknown])
        expect([status, body.error.code]).toEqual([404, 'batch_not_found']);
    }
    await finished(id);
  });
});

describe('what is sent', () => {
  const refused = async (body: Record<string, unknown>, key?: string) => {
    const { status, body: answer } = await create(body, key);
    return { status, code: answer.error.code, param: answer.error.param };
  };

  it('has 1 to 5,000 items with a message each, and errors name the item [BAT-016, BAT-018]', async () => {
    const invalid = (param: string) => ({ status: 400, code: 'invalid_request', param });
    expect(await refused({})).toEqual(invalid('items'));
    expect(await refused({ items: [] })).toEqual(invalid('items'));
    expect(await refused({ items: itemsFor(5001, 'many') })).toEqual(invalid('items'));
    const good = { message: 'Hi' };
    expect(await refused({ items: [good, good, good, { message: '' }] })).toEqual(invalid('items.3.message'));
    expect(await refused({ items: [{ message: 'x'.repeat(32_001) }] })).toEqual(invalid('items.0.message'));
    expect(await refused({ items: [good, { message: 'Hi', user_id: 'a b' }] })).toEqual(invalid('items.1.user_id'));
    expect(await refused({ items: [{ ...good, extra: 1 }] })).toMatchObject({ param: 'items.0.extra' });
    for (const concurrency of [0, 101, 1.5]) {
      expect(await refused({ items: [good], concurrency })).toEqual(invalid('concurrency'));
    }
  });

  it('runs no pinned version, no unknown deployment and none that is not live [BAT-036]', async () => {
    const items = [{ message: 'Hi' }];
    const unknown = { status: 400, code: 'invalid_deployment', param: 'deployment' };
    expect(await refused({ items, deployment: 'desk@1' })).toEqual(unknown);
    expect(await refused({ items, deployment: 'nowhere' })).toEqual(unknown);
    const { body } = await server.call('PUT', '/v1/deployments/draft-only?promote=no', {
      body: { name: 'draft-only', instructions: 'Wait.' },
    });
    expect(body.live_version).toBeNull();
    expect(await refused({ items, deployment: 'draft-only' }, server.liveKey)).toMatchObject({
      status: 409,
      code: 'deployment_not_live',
    });
  });

  it('names a user for each item if the org requires one', async () => {
    await server.call('PATCH', '/v1/org', { body: { require_user: true } });
    const answer = await refused({ items: [{ message: 'Hi', user_id: 'anna' }, { message: 'Hi' }] });
    await server.call('PATCH', '/v1/org', { body: { require_user: false } });
    expect(answer).toEqual({ status: 400, code: 'user_required', param: 'items.1.user_id' });
  });

  it('creates one batch for repeated requests with one key', async () => {
    script(() => ({ text: 'Yes.' }));
    const send = () =>
      server.call('POST', '/v1/batches', {
        body: { items: itemsFor(3, 'again') },
        headers: { 'idempotency-key': 'batch-again' },
      });
    const [first, second] = await Promise.all([send(), send()]);
    expect(second.body.id).toBe(first.body.id);
    expect((await send()).text).toBe(first.text);
    await finished(first.body.id);
    expect(worked()).toHaveLength(3);
  });
});

describe('slots', () => {
  it('are never more than `concurrency`, and each is reused [BAT-020, BAT-009]', async () => {
    let now = 0;
    let most = 0;
    const held = gate();
    script(async (request) => {
      most = Math.max(most, ++now);
      await held.hold(lastText(request));
      now--;
      return { text: 'Yes.' };
    });
    const batch = await made({ items: itemsFor(12, 'slots'), concurrency: 3 });
    await held.until(3);
    const { body } = await server.call('GET', `/v1/batches/${batch.id}`);
    expect(body.counts).toMatchObject({ running: 3, queued: 9 });
    const [first, , , fourth] = await items(batch.id);
    expect(first).toMatchObject({ status: 'running', task_id: expect.stringMatching(/^task_/), finished_at: null });
    expect(fourth).toMatchObject({ status: 'queued', conversation_id: null, task_id: null, result: null });
    held.letGo('Item 1');
    await held.until(3);
    expect([...held.waiting.keys()].sort()).toEqual(['Item 0', 'Item 2', 'Item 3']);
    held.open();
    await finished(batch.id);
    expect(most).toBe(3);
  });

  it('of the org’s own agent are five over all its batches [BAT-025]', async () => {
    const held = gate();
    script(async (request) => {
      await held.hold(lastText(request));
      return { text: 'Yes.' };
    });
    const own = (name: string) => Array.from({ length: 4 }, (_, at) => ({ message: `${name} ${at}` }));
    const first = await made({ items: own('A'), concurrency: 50 });
    // Both would begin at the same moment on a busy machine, and either may be first.
    await held.until(4);
    const second = await made({ items: [...own('B'), { user_id: 'otto', message: 'Otto' }], concurrency: 50 });
    await held.until(6);
    const running = async (id: string) => (await server.call('GET', `/v1/batches/${id}`)).body.counts.running;
    expect([await running(first.id), await running(second.id)]).toEqual([4, 2]);
    expect([...held.waiting.keys()].sort()).toEqual(['A 0', 'A 1', 'A 2', 'A 3', 'B 0', 'Otto']);
    // An end in one batch makes room in the other.
    held.letGo('A 0');
    await held.until(6);
    expect(held.waiting.has('B 1')).toBe(true);
    held.open();
    for (const { id } of [first, second]) await finished(id);
  });

  it('are released while an item waits for a person, and taken again with the answer [BAT-026, BAT-030]', async () => {
    const held = gate();
    let now = 0;
    let most = 0;
    script(async (request) => {
      if (lastText(request) !== 'Probe') most = Math.max(most, now + 1);
      now++;
      try {
        const hasAnswer = request.messages.some(({ role }) => role === 'tool');
        if (lastText(request) === 'Item 0' && !hasAnswer) {
          return { calls: [{ name: 'ask_question', arguments: { question: 'Which colour?' } }] };
        }
        if (lastText(request) === 'Probe') return { text: 'Here.' };
        await held.hold(hasAnswer ? 'answered' : lastText(request));
        return { text: hasAnswer ? 'Painted.' : 'Yes.' };
      } finally {
        now--;
      }
    });
    const batch = await made({ items: itemsFor(3, 'asks'), concurrency: 1 });
    await held.until(1);
    expect([...held.waiting.keys()]).toEqual(['Item 1']);
    const { body } = await server.call('GET', `/v1/batches/${batch.id}`);
    expect(body.counts).toMatchObject({ running: 2, queued: 1 });
    const [asking] = await items(batch.id);
    const open = await server.call('GET', `/v1/interactions?conversation_id=${asking.conversation_id}`);
    const answer = await server.call('POST', `/v1/interactions/${open.body.data[0].id}/answer`, {
      body: { answers: ['Red'] },
    });
    expect(answer.status).toBe(200);
    // The item queued behind it has finished: if it had resumed, it would be here by now.
    const probe = await made({ items: [{ user_id: 'probe', message: 'Probe' }] });
    await finished(probe.id);
    expect([...held.waiting.keys()]).toEqual(['Item 1']);
    // The one slot is taken: the answered item resumes when it is free, before items that have not started.
    held.letGo('Item 1');
    await held.until(1);
    expect([...held.waiting.keys()]).toEqual(['answered']);
    held.open();
    const over = await finished(batch.id);
    expect(over.counts.succeeded).toBe(3);
    expect(most).toBe(1);
    expect((await items(batch.id))[0].result.text).toBe('Painted.');
  });
});

describe('cancelling', () => {
  it('cancels queued items, lets running ones finish, and emits an event at the end [BAT-141, BAT-024, BAT-027, BAT-032, BAT-035, BAT-038]', async () => {
    const held = gate();
    script(async (request) => {
      await held.hold(lastText(request));
      return { text: 'Yes.' };
    });
    const batch = await made({ items: itemsFor(6, 'cancel'), concurrency: 2 });
    await held.until(2);
    const cancelled = await server.call('POST', `/v1/batches/${batch.id}/cancel`);
    expect(cancelled.body).toMatchObject({
      id: batch.id,
      status: 'cancelled',
      completed_at: null,
      counts: { queued: 0, running: 2, succeeded: 0, failed: 0, cancelled: 4 },
    });
    expect((await server.call('POST', `/v1/batches/${batch.id}/cancel`)).status).toBe(200);
    const early = await server.call('DELETE', `/v1/batches/${batch.id}`);
    expect([early.status, early.body.error.code]).toEqual([409, 'still_running']);
    held.letGo('Item 0');
    await server.until(`/v1/batches/${batch.id}`, ({ counts }) => counts.succeeded === 1);
    expect((await server.call('GET', `/v1/batches/${batch.id}`)).body.completed_at).toBeNull();
    held.open();
    const over = await finished(batch.id);
    expect(over).toMatchObject({ status: 'cancelled', counts: { succeeded: 2, cancelled: 4 } });
    const told = (await server.call('GET', '/v1/events?type=batch.completed&limit=100')).body.data;
    expect(told.filter(({ data }: { data: { id: string } }) => data.id === batch.id)).toMatchObject([
      { data: { status: 'cancelled', counts: { succeeded: 2, cancelled: 4 } } },
    ]);
    const again = await server.call('POST', `/v1/batches/${batch.id}/cancel`);
    expect([again.status, again.body.error.code]).toEqual([409, 'batch_finished']);
    const [, , third] = await items(batch.id);
    expect(third).toMatchObject({ status: 'cancelled', conversation_id: null, result: null, error: null });
    expect(worked()).toHaveLength(2);
  });

  it('refuses a batch that has ended by itself', async () => {
    script(() => ({ text: 'Yes.' }));
    const { id } = await made({ items: [{ message: 'Hi' }] });
    await finished(id);
    const { status, body } = await server.call('POST', `/v1/batches/${id}/cancel`);
    expect([status, body.error.code]).toEqual([409, 'batch_finished']);
  });
});

describe('deleting', () => {
  it('removes a batch that has ended and its items, and leaves their conversations and costs [DEL-740]', async () => {
    script(() => ({ text: 'Yes.' }));
    const { id } = await made({ items: [{ message: 'Hi', metadata: { label: 'kept' } }] });
    const { spend_usd } = await finished(id);
    const [{ conversation_id, task_id }] = await items(id);
    expect((await server.call('DELETE', `/v1/batches/${id}`, { key: server.liveKey })).status).toBe(404);
    expect((await server.call('DELETE', `/v1/batches/${id}`)).body).toEqual({ object: 'batch', id, deleted: true });
    for (const path of [`/v1/batches/${id}`, `/v1/batches/${id}/items`]) {
      expect((await server.call('GET', path)).status).toBe(404);
    }
    expect((await server.call('DELETE', `/v1/batches/${id}`)).status).toBe(404);
    expect((await server.call('GET', `/v1/conversations/${conversation_id}`)).body.metadata).toEqual({ label: 'kept' });
    expect((await server.call('GET', `/v1/tasks/${task_id}`)).body.cost_usd).toBe(spend_usd);
    const reported = (await server.call('GET', '/v1/events?type=batch.completed&limit=100')).body.data;
    expect(reported.filter(({ data }: { data: { id: string } }) => data.id === id)).toEqual([]);
    const [entry] = (await server.call('GET', '/v1/audit-log?action=batch.deleted')).body.data;
    expect(entry).toMatchObject({ target: { type: 'batch', id } });
  });
});

describe('an item that cannot run', () => {
  it('of a disabled user fails, and the batch continues [BAT-037]', async () => {
    script(() => ({ text: 'Yes.' }));
    await server.call('POST', '/v1/users', { body: { user_id: 'barred' } });
    await server.call('PATCH', '/v1/users/barred', { body: { status: 'disabled' } });
    const batch = await made({
      items: [...itemsFor(2, 'free'), { user_id: 'barred', message: 'Hi' }, ...itemsFor(2, 'freer')],
    });
    expect((await finished(batch.id)).counts).toMatchObject({ succeeded: 4, failed: 1 });
    const all = await items(batch.id);
    expect(all[2]).toMatchObject({ status: 'failed', error: { code: 'user_disabled' }, conversation_id: null });
    expect((await server.call('GET', '/v1/users/free-1')).status).toBe(200);
  });

  it('of a user without money left fails, and those beside it run [BAT-490]', async () => {
    script(() => ({ text: 'Yes.' }));
    await server.call('POST', '/v1/users', { body: { user_id: 'spent' } });
    const capped = await server.call('PATCH', '/v1/users/spent', { body: { spend_cap_usd: 0 } });
    expect(capped.status, capped.text).toBe(200);
    const batch = await made({
      items: [...itemsFor(2, 'rich'), { user_id: 'spent', message: 'Hi' }, ...itemsFor(2, 'richer')],
    });
    expect((await finished(batch.id)).counts).toMatchObject({ succeeded: 4, failed: 1 });
    expect((await items(batch.id))[2]).toMatchObject({ status: 'failed', error: { code: 'user_cap_reached' } });
  });

  it('fails with the error code of its deployment, and so do all that have not started', async () => {
    const held = gate();
    script(async (request) => {
      await held.hold(lastText(request));
      return { text: 'Yes.' };
    });
    await server.apply({ name: 'closing', instructions: 'Close.' });
    const batch = await made({ deployment: 'closing', items: itemsFor(9, 'closing'), concurrency: 2 });
    await held.until(2);
    expect((await server.call('POST', '/v1/deployments/closing/archive')).status).toBe(200);
    held.open();
    const over = await finished(batch.id);
    expect(over.counts).toMatchObject({ succeeded: 2, failed: 7 });
    for (const each of (await items(batch.id)).slice(2)) expect(each.error.code).toBe('deployment_archived');
  });

  it('fails with `wallet_empty` if the wallet is empty, and the batch completes', async () => {
    const held = gate();
    script(async (request) => {
      await held.hold(lastText(request));
      return { text: 'Dear.', usage: { inputTokens: 300_000_000, outputTokens: 0 } };
    });
    await server.call('PATCH', '/v1/limits', { body: { caps: { org_daily_usd: 1000, user_daily_usd: 1000 } } });
    const batch = await made({ items: itemsFor(30, 'poor'), concurrency: 1 });
    await held.until(1);
    held.open();
    const over = await finished(batch.id);
    expect(over.counts).toMatchObject({ succeeded: 1, failed: 29 });
    expect(new Set((await items(batch.id)).slice(1).map(({ error }) => error.code))).toEqual(new Set(['wallet_empty']));
    const refused = await create({ items: [{ message: 'Hi' }] });
    expect([refused.status, refused.body.error.code]).toEqual([402, 'wallet_empty']);
    // Money again for what follows.
    await query(
      server.connectionString,
      `UPDATE wallets SET balance_micros = balance_micros + 1000000000 WHERE org_id = $1`,
      [server.orgId],
    );
  });

  it('reports that a person stopped it', async () => {
    const held = gate();
    script(async (request) => {
      await held.hold(lastText(request));
      return { text: 'Yes.' };
    });
    const batch = await made({ items: itemsFor(2, 'stopped'), concurrency: 1 });
    await held.until(1);
    const [first] = await items(batch.id);
    await server.call('POST', `/v1/conversations/${first.conversation_id}/stop`);
    held.open();
    expect((await finished(batch.id)).counts).toMatchObject({ succeeded: 1, failed: 1 });
    expect((await items(batch.id))[0].error).toEqual({ code: 'stopped', message: expect.stringMatching(/stopped/) });
  });
});

describe('erasing a user', () => {
  it('leaves nothing of their items but their place', async () => {
    const held = gate();
    script(async (request) => {
      if (lastText(request).includes('secret of today')) await held.hold('today');
      return { text: 'I know the secret.' };
    });
    const done = await made({ items: [{ user_id: 'gone', message: 'My secret', metadata: { name: 'gone' } }] });
    await finished(done.id);
    const open = await made({
      items: [
        { user_id: 'gone', message: 'The secret of today', context: { secret: 1 } },
        { user_id: 'gone', message: 'The secret of tomorrow', context: { secret: 2 } },
        { user_id: 'stays', message: 'Hello' },
      ],
      concurrency: 1,
    });
    await held.until(1);
    expect((await server.call('DELETE', '/v1/users/gone')).status).toBe(202);
    const over = await finished(open.id);
    held.open();
    expect(over.counts).toMatchObject({ succeeded: 1, failed: 2 });
    await server.until('/v1/events?type=user.deleted', ({ data }) =>
      data.some((each: Body) => each.data.id === 'gone'),
    );
    expect((await items(done.id))[0]).toMatchObject({
      user_id: null,
      conversation_id: null,
      result: null,
      metadata: {},
    });
    const [today, tomorrow, hello] = await items(open.id);
    for (const each of [today, tomorrow]) {
      expect(each).toMatchObject({ user_id: null, status: 'failed', error: { code: 'user_disabled' }, task_id: null });
    }
    expect(hello).toMatchObject({ user_id: 'stays', status: 'succeeded' });
    const rows = await query<{ row: string }>(
      server.connectionString,
      'SELECT batch_items::text AS row FROM batch_items',
    );
    expect(rows.filter(({ row }) => /secret|gone/.test(row))).toEqual([]);
  });
});

describe('counts', () => {
  it('sum to `item_count` whenever they are read', async () => {
    script((request) => ({
      text: 'Yes.',
      delayMs: 5,
      ...(lastText(request).endsWith('3') && { fail: 400 }),
    }));
    const batch = await made({ items: itemsFor(60, 'sum'), concurrency: 8 });
    for (let isOver = false; !isOver; ) {
      const { body } = await server.call('GET', `/v1/batches/${batch.id}`);
      expect(sumOf(body.counts)).toBe(60);
      expect(body.counts.running).toBeLessThanOrEqual(8);
      isOver = body.completed_at !== null;
    }
    const [row] = await query<{ failed: number; succeeded: number }>(
      server.connectionString,
      `SELECT count(*) FILTER (WHERE status = 'failed')::int AS failed,
        count(*) FILTER (WHERE status = 'succeeded')::int AS succeeded FROM batch_items WHERE batch_id = $1`,
      [batch.id],
    );
    const { body } = await server.call('GET', `/v1/batches/${batch.id}`);
    expect(body.counts).toMatchObject(row as object);
    expect(row).toEqual({ failed: 6, succeeded: 54 });
  });
});
