import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cast } from '../support/cast.ts';
import { pollWithJob } from '../support/jobs.ts';
import { shown, startTill, sum, type Till } from './money.fixture.ts';

let till: Till;
beforeAll(async () => {
  till = await startTill();
  await till.apply({ name: 'desk', instructions: 'Be kind.', memory: 'none' });
});
afterAll(() => till.stop());

// 1.00 and 4.00 a million: 0.02 in, 0.04 out.
const sixCents = { inputTokens: 20_000, outputTokens: 10_000 };
const defaults = { org_daily_usd: 100, org_monthly_usd: null, user_daily_usd: 10, user_monthly_usd: null };

describe('the cost of a message', () => {
  it('is the price of its tokens, item by item, and the same in every view [MOD-017, MON-015, MON-022, MON-023, USE-004, USE-015]', async () => {
    const usage = { inputTokens: 12_340, outputTokens: 560, cacheReadTokens: 1_000 };
    till.script(() => ({ text: 'Hello.', usage }));
    const { body: made } = await till.say({ user_id: 'ada', message: 'Hi' });
    const turn = await till.settled(made);
    const items = await till.lineItems(`conversation_id=${made.id}`);
    expect(
      items
        .map(({ kind, model, unit, quantity, unit_price_usd }) => [kind, model, unit, quantity, unit_price_usd])
        .sort(),
    ).toEqual([
      ['orchestrator', 'compatible/scripted', 'cache_read_tokens', 1_000, 0.000001],
      ['orchestrator', 'compatible/scripted', 'input_tokens', 12_340, 0.000001],
      ['orchestrator', 'compatible/scripted', 'output_tokens', 560, 0.000004],
    ]);
    for (const { quantity, unit_price_usd, cost_usd } of items)
      expect(cost_usd).toBeCloseTo(quantity * unit_price_usd, 6);
    const stored = await till.sql(
      `SELECT amount_micros, quantity * unit_price_micros AS micros FROM ledger_entries
        WHERE conversation_id = $1 AND account = 'spend'`,
      [made.id],
    );
    const exact = stored.reduce((total, { micros }) => total + Number(micros ?? 0), 0);
    expect(stored.reduce((total, { amount_micros }) => total + Number(amount_micros), 0)).toBe(Math.round(exact));
    const { body: conversation } = await till.call('GET', `/v1/conversations/${made.id}`);
    const cost = 0.01558;
    expect([turn.cost_usd, conversation.cost_usd, sum(items)]).toEqual([cost, cost, cost]);
    expect(conversation.cost_breakdown).toEqual({
      orchestrator: cost,
      intelligence: 0,
      tools: 0,
      compute: 0,
      background: 0,
      voice: 0,
      improvement: 0,
      insight: 0,
    });
    const report = await till.call('GET', `/v1/usage?group_by=user&conversation_id=${made.id}`);
    expect(report.body.data).toMatchObject([{ key: 'ada', cost_usd: cost, input_tokens: 12_340, output_tokens: 560 }]);
  });

  it('counts the work apart from the reply, whole when the work has ended [MOD-017, MON-022, MON-023, MON-024]', async () => {
    till.script(({ tools, messages }) => {
      if (tools.some(({ name }) => name === 'hand_off_to_work')) {
        return {
          calls: [{ name: 'hand_off_to_work', arguments: { title: 'Count', task: 'Count.' } }],
          usage: sixCents,
        };
      }
      if (messages.at(-1)?.role === 'tool') return { text: 'Counted.', usage: sixCents };
      const steps = [{ content: 'Count', status: 'in_progress' }];
      return { calls: [{ name: 'update_plan', arguments: { steps } }], usage: sixCents };
    });
    const stream = await till.stream('POST', '/v1/conversations', { body: { message: 'Count', stream: true } });
    const ended = await stream.waitFor(({ type }) => type === 'task.completed');
    const path = `/v1/tasks/${ended.task_id}`;
    const { body: task } = await till.call('GET', path);
    const ofTask = await till.lineItems(`task_id=${task.id}`);
    expect([task.status, task.cost_usd, sum(ofTask)]).toEqual(['done', 0.12, 0.12]);
    expect(task.cost_breakdown).toMatchObject({ intelligence: 0.12, orchestrator: 0 });
    const { body: conversation } = await till.call('GET', `/v1/conversations/${ended.conversation_id}`);
    expect([
      conversation.cost_usd,
      conversation.cost_breakdown.intelligence,
      conversation.cost_breakdown.orchestrator,
    ]).toEqual([0.18, 0.12, 0.06]);
    const [settled] = (await stream.events).filter(({ type }) => type === 'turn.settled');
    expect(settled?.data.turn.cost_usd).toBe(0.18);
    // Nothing comes after: what was charged is folded, and the task has cost the same.
    await till.folded();
    expect((await till.call('GET', path)).body.cost_usd).toBe(0.12);
  });

  it('of `offline` is 0.10 in and 0.40 out per million tokens [MON-014]', async () => {
    await till.apply({ name: 'stand-in', instructions: 'Be kind.', memory: 'none', model: 'offline' });
    const { body: made } = await till.say({ deployment: 'stand-in', message: 'Hello there' });
    await till.settled(made);
    const items = await till.lineItems(`conversation_id=${made.id}`);
    expect(items.map(({ model, unit, unit_price_usd }) => [model, unit, unit_price_usd]).sort()).toEqual([
      ['offline', 'input_tokens', 1e-7],
      ['offline', 'output_tokens', 4e-7],
    ]);
    const stored = await till.sql(
      `SELECT amount_micros, quantity * unit_price_micros AS micros FROM ledger_entries
        WHERE conversation_id = $1 AND account = 'spend'`,
      [made.id],
    );
    const exact = stored.reduce((total, { micros }) => total + Number(micros ?? 0), 0);
    expect(stored.reduce((total, { amount_micros }) => total + Number(amount_micros), 0)).toBe(Math.round(exact));
    expect(items.every(({ quantity }) => quantity > 0)).toBe(true);
  });

  it("of `compatible/*` is the operator's price [MON-015]", async () => {
    const dear = await startTill({ OPENAI_COMPATIBLE_PRICE: '2.5,12' });
    try {
      await dear.apply({ name: 'desk', instructions: 'Be kind.', memory: 'none' });
      dear.script(() => ({ text: 'Hello.', usage: { inputTokens: 10_000, outputTokens: 1_000 } }));
      const { body: made } = await dear.say({ message: 'Hi' });
      expect((await dear.settled(made)).cost_usd).toBe(0.037);
    } finally {
      await dear.stop();
    }
  });

  it('has no line items for an unknown task, or before anything was charged [USE-004]', async () => {
    const { body: silent } = await till.say({ user_id: 'ada' });
    expect(await till.lineItems(`conversation_id=${silent.id}`)).toEqual([]);
    const nothing = '000000000000000000000000';
    const asked = [
      await till.call('GET', `/v1/usage/line-items?conversation_id=conv_${nothing}`),
      await till.call('GET', `/v1/usage/line-items?task_id=task_${nothing}`),
      await till.call('GET', `/v1/usage/line-items?conversation_id=${silent.id}`, { key: till.liveKey }),
    ];
    expect(asked.map(({ status, body }) => [status, body.error.code])).toEqual([
      [404, 'conversation_not_found'],
      [404, 'task_not_found'],
      [404, 'conversation_not_found'],
    ]);
  });
});

describe('an unfinished reply', () => {
  const words = ['One ', 'two ', 'three ', 'four, ', 'Grüße, ', '你好 ', 'seven.'];
  const tokensIn = (text: string) => Math.ceil(Buffer.byteLength(text) / 3.5);
  const eventsOf = (id: string) => `/v1/conversations/${id}/events?format=json&limit=100`;
  const streamed = (log: { type: string; data: { text: string } }[]) =>
    log
      .filter(({ type }) => type === 'reply.delta')
      .map(({ data }) => data.text)
      .join('');
  /** Waits until it is known what the call of a run has used so far. */
  const inUse = (runId: string) =>
    expect
      .poll(
        async () => (await till.sql('SELECT FROM reservations WHERE run_id = $1 AND used IS NOT NULL', [runId])).length,
        {
          timeout: 20_000,
        },
      )
      .toBe(1);

  it.each(words.map((_, at) => at + 1))(
    'is charged once for the streamed text if it is stopped after %i pieces [MON-165, MON-168]',
    async (count) => {
      const said = words.slice(0, count).join('');
      till.script(() => ({ text: words.slice(0, count), fail: 'hang' }));
      const { body: made } = await till.say({ user_id: 'hasty', message: 'Count' });
      await till.until(eventsOf(made.id), ({ data }) => streamed(data) === said);
      await Promise.all([1, 2].map(() => till.call('POST', `/v1/conversations/${made.id}/stop`)));
      const turn = await till.settled(made);
      const items = await till.lineItems(`conversation_id=${made.id}`);
      expect(items.map(({ unit, quantity, estimated }) => [unit, quantity, estimated]).sort()).toEqual([
        ['input_tokens', expect.any(Number), true],
        ['output_tokens', tokensIn(said), true],
      ]);
      expect(items.find(({ unit }) => unit === 'input_tokens')?.quantity).toBeGreaterThan(100);
      expect([turn.status, turn.cost_usd > 0, turn.cost_usd]).toEqual(['stopped', true, sum(items)]);
      // The process that ran the reply has settled it: the stopped turn is charged nothing more.
      till.script(() => ({ text: 'Yes.', usage: sixCents }));
      const again = await till.call('POST', `/v1/conversations/${made.id}/messages`, {
        body: { message: 'Still there?' },
        headers: { prefer: 'wait=20' },
      });
      expect([200, 201, 202]).toContain(again.status);
      await till.until(`/v1/conversations/${made.id}`, ({ status }) => status === 'idle');
      expect(await till.lineItems(`conversation_id=${made.id}`)).toHaveLength(4);
      expect(await till.sql('SELECT FROM reservations WHERE user_id = $1', ['hasty'])).toEqual([]);
    },
  );

  it('is charged if the vendor breaks off after some text, and free before any [MON-165]', async () => {
    till.script(() => ({ text: ['Half an ', 'answer'], fail: 'cut' }));
    const { body: half } = await till.say({ message: 'Go' });
    const broken = await till.settled(half);
    const items = await till.lineItems(`conversation_id=${half.id}`);
    expect([broken.status, broken.error.code, broken.cost_usd]).toEqual(['failed', 'model_error', sum(items)]);
    expect(items.map(({ unit, estimated }) => [unit, estimated]).sort()).toEqual([
      ['input_tokens', true],
      ['output_tokens', true],
    ]);
    till.script(() => ({ fail: 400 }));
    const { body: none } = await till.say({ message: 'Go' });
    expect([(await till.settled(none)).status, await till.lineItems(`conversation_id=${none.id}`)]).toEqual([
      'failed',
      [],
    ]);
  });

  it('is charged if it is a silent task that is stopped, and appears in its trace [MON-165, TASK-161]', async () => {
    till.script(({ messages }) => {
      if (messages.at(-1)?.role === 'tool') return { fail: 'hang' };
      const steps = [{ content: 'Count', status: 'in_progress' }];
      return { calls: [{ name: 'update_plan', arguments: { steps } }], usage: sixCents };
    });
    const { body: made } = await till.say({ user_id: 'hasty', message: 'Work', hand_off: 'always' });
    const { data } = await till.until(`/v1/tasks?conversation_id=${made.id}`, ({ data: rows }) => rows.length === 1);
    await inUse(data[0].id);
    await till.call('POST', `/v1/conversations/${made.id}/stop`);
    const { body: task } = await till.call('GET', `/v1/tasks/${data[0].id}`);
    const { body: trace } = await till.call('GET', `/v1/tasks/${data[0].id}/trace`);
    const items = await till.lineItems(`task_id=${task.id}`);
    expect([task.status, task.cost_usd > 0.06, trace.totals.cost_usd]).toEqual(['failed', true, task.cost_usd]);
    expect([sum(items), trace.turns.map(({ status }: { status: string }) => status)]).toEqual([
      task.cost_usd,
      ['completed', 'stopped'],
    ]);
    const [stopped] = (await till.told('task.stopped')).filter(({ data: told }) => told.id === task.id);
    expect(stopped.data.cost_usd).toBe(task.cost_usd);
  });

  describe('is charged like a stop by a person', () => {
    const question = { calls: [{ name: 'ask_question', arguments: { question: 'Go on?' } }] };
    /** Asks first. Once it is answered, it says so much and then nothing more. */
    const hanging = (text: string[]) =>
      till.script(({ messages }) => (messages.at(-1)?.role === 'tool' ? { text, fail: 'hang' } : question));
    const cases = [
      ['a reply that is streaming', 'turns', {}, ['One ', 'two ']],
      ['a task in silence', 'tasks', { hand_off: 'always' }, []],
    ] as const;

    /** The conversation waits in its question; `end` ends it while the model's next answer hangs. */
    async function ended(body: Record<string, unknown>, user: string, end: (of: Ended) => Promise<unknown>) {
      const { body: made } = await till.say({ ...body, user_id: user, deployment: 'brisk', message: 'Count' });
      const asked = `/v1/interactions?conversation_id=${made.id}`;
      const { data } = await till.until(asked, ({ data: rows }) => rows.length === 1);
      const [{ id }] = data;
      const [{ run_id: runId }] = await till.sql('SELECT run_id FROM interactions WHERE id = $1', [id]);
      const answer = () => till.call('POST', `/v1/interactions/${id}/answer`, { body: { answers: ['Yes'] } });
      await end({ conversationId: made.id, runId, answer });
      const turn = await till.settled(made);
      const items = await till.lineItems(`conversation_id=${made.id}`);
      const { body: conversation } = await till.call('GET', `/v1/conversations/${made.id}`);
      expect([turn.cost_usd, conversation.cost_usd]).toEqual([sum(items), sum(items)]);
      await expect.poll(() => till.sql('SELECT FROM reservations WHERE user_id = $1', [user])).toEqual([]);
      const cut = items.filter(({ estimated }) => estimated);
      return { turn, cut: cut.map(({ kind, unit, quantity }) => [kind, unit, unit === 'input_tokens' || quantity]) };
    }

    type Ended = { conversationId: string; runId: string; answer: () => Promise<unknown> };

    const byPerson = async ({ conversationId, runId, answer }: Ended) => {
      await answer();
      await inUse(runId);
      await till.call('POST', `/v1/conversations/${conversationId}/stop`);
    };

    it.each(cases)('if the time limit ends %s [MON-640]', async (_name, table, body, text) => {
      await till.apply({ name: 'brisk', instructions: 'Be kind.', memory: 'none', limits: { max_minutes: 1 } });
      hanging([...text]);
      const stopped = await ended(body, 'by-hand', byPerson);
      const limited = await ended(body, 'by-limit', async ({ runId, answer }) => {
        await till.sql(`UPDATE ${table} SET active_ms = 56000 WHERE id = $1`, [runId]);
        await answer();
      });
      expect(limited.turn.error).toEqual({ code: 'max_turns', message: 'The limit of 1 minute was reached.' });
      expect(limited.cut.length).toBeGreaterThan(0);
      expect(limited.cut).toEqual(stopped.cut);
    });

    it('if its user is erased [MON-641]', async () => {
      hanging(['One ', 'two ']);
      const unknown = async () => {
        const { body } = await till.call('GET', '/v1/usage?group_by=user');
        return body.data.find(({ key }: { key: string }) => key === 'unknown')?.output_tokens ?? 0;
      };
      const before = await unknown();
      const { body: made } = await till.say({ user_id: 'leaver', deployment: 'brisk', message: 'Count' });
      const { data } = await till.until(
        `/v1/interactions?conversation_id=${made.id}`,
        ({ data: rows }) => rows.length === 1,
      );
      await till.call('POST', `/v1/interactions/${data[0].id}/answer`, { body: { answers: ['Yes'] } });
      await till.until(eventsOf(made.id), ({ data: log }) => streamed(log) === 'One two ');
      const [{ tokens }] = await till.sql(
        `SELECT COALESCE(sum(quantity), 0)::int AS tokens FROM ledger_entries
         WHERE conversation_id = $1 AND unit = 'output_tokens'`,
        [made.id],
      );
      expect((await till.call('DELETE', '/v1/users/leaver')).status).toBeLessThan(300);
      await expect
        .poll(async () => (await till.told('user.deleted')).some(({ data: told }) => told.id === 'leaver'), {
          timeout: 30_000,
        })
        .toBe(true);
      expect((await unknown()) - before - tokens).toBe(tokensIn('One two '));
      expect(await till.sql(`SELECT FROM reservations WHERE user_id IN ('leaver', 'unknown')`)).toEqual([]);
      const left = `SELECT FROM ledger_entries WHERE user_id = 'leaver'`;
      expect(await till.sql(left)).toEqual([]);
    });
  });

  it('of judged work leaves no cost out of the trace [TASK-161]', async () => {
    till.script(
      cast({
        agent: () => ({ text: 'Done.', usage: sixCents }),
        judge: () => ({
          text: '{"criteria":[{"text":"It is done.","met":true,"reason":"It is."}],"must_never":[]}',
          usage: sixCents,
        }),
      }),
    );
    const body = { message: 'Do it', hand_off: 'always', success_criteria: 'It is done.' };
    const turn = await till.settled((await till.say(body)).body);
    const { body: task } = await till.call('GET', `/v1/tasks/${turn.task_id}`);
    const { body: trace } = await till.call('GET', `/v1/tasks/${turn.task_id}/trace`);
    expect([task.outcome.met, task.cost_usd, trace.totals]).toEqual([
      true,
      0.12,
      { input_tokens: 40_000, output_tokens: 20_000, cost_usd: 0.12 },
    ]);
    expect(trace.turns.map(({ status }: { status: string }) => status)).toEqual(['completed', 'judged']);
  });
});

describe('a small charge', () => {
  it('is shown to the micro-dollar, and so is the sum of many [USE-161, MON-166, MON-022]', async () => {
    await till.apply({ name: 'stand-in', instructions: 'Be kind.', memory: 'none', model: 'offline' });
    const { body: made } = await till.say({ deployment: 'stand-in', message: 'Hello there' });
    await till.settled(made);
    for (const message of ['a', 'b c', 'd e f']) {
      await till.call('POST', `/v1/conversations/${made.id}/messages`, { body: { message } });
      await till.until(`/v1/conversations/${made.id}`, ({ status }) => status === 'idle');
    }
    const { body: page } = await till.call('GET', `/v1/usage/line-items?conversation_id=${made.id}&limit=100`);
    const { body: conversation } = await till.call('GET', `/v1/conversations/${made.id}`);
    const micros = (usd: number) => Math.round(usd * 1_000_000);
    const total = page.data.reduce((all: number, { cost_usd }: { cost_usd: number }) => all + micros(cost_usd), 0);
    const exact = page.data.reduce(
      (all: number, { quantity, unit_price_usd }: { quantity: number; unit_price_usd: number }) =>
        all + quantity * unit_price_usd * 1_000_000,
      0,
    );
    expect(page.data).toHaveLength(8);
    expect([micros(page.total.cost_usd), conversation.cost_usd]).toEqual([total, shown(total / 1_000_000)]);
    // Four calls, each within half a micro-dollar of its price.
    expect(Math.abs(total - exact)).toBeLessThanOrEqual(2);
    for (const { cost_usd } of page.data) expect(micros(cost_usd) / 1_000_000).toBe(cost_usd);
  });
});

describe('the cost of a test run', () => {
  it('is in the report, though its conversations are in no list [USE-017]', async () => {
    await till.apply({ name: 'rehearsal', instructions: 'Be brief.', memory: 'none' });
    await till.call('POST', '/v1/deployments/rehearsal/scenarios', {
      body: { name: 'Greets', persona: 'A guest.', goal: 'Say hello', success_criteria: ['It greets.'] },
    });
    till.script(
      cast({
        agent: () => ({ text: 'Good day.', usage: sixCents }),
        user: () => '',
        judge: () => ({ holds: true, reason: 'It does.' }),
      }),
    );
    const { body: started } = await till.call('POST', '/v1/deployments/rehearsal/test-runs');
    const run = await till.until(
      `/v1/test-runs/${started.id}`,
      ({ status }) => status === 'passed' || status === 'failed',
    );
    expect([run.status, run.cost_usd >= 0.06]).toEqual(['passed', true]);
    const { body: report } = await till.call('GET', '/v1/usage?deployment_id=rehearsal');
    expect(report.total.cost_usd).toBe(run.cost_usd);
    const { body: listed } = await till.call('GET', '/v1/conversations?limit=100');
    const { conversation_id } = run.results[0];
    expect(listed.data.map(({ id }: { id: string }) => id)).not.toContain(conversation_id);
  });
});

describe('a cap', () => {
  it.each([
    ['the org’s day', { org_daily_usd: 0.05, user_daily_usd: 0.05 }, 'org_cap_reached', 'daily'],
    ['the org’s month', { org_monthly_usd: 0.05 }, 'org_cap_reached', 'monthly'],
    ['every user’s day', { user_daily_usd: 0.05 }, 'user_cap_reached', 'daily'],
    ['every user’s month', { user_monthly_usd: 0.05 }, 'user_cap_reached', 'monthly'],
  ])('for %s refuses a message once it is spent [MON-003, MON-004]', async (what, caps, code, period) => {
    const userId = `capped-${Object.keys(caps)[0]}`;
    till.script(() => ({ text: 'Hello.', usage: sixCents }));
    const { body: first } = await till.say({ user_id: userId, message: 'Hi' });
    expect((await till.settled(first)).status).toBe('settled');
    await till.setCaps(caps);
    const refused = [
      await till.say({ user_id: userId, message: 'Again' }),
      await till.call('POST', `/v1/conversations/${first.id}/messages`, { body: { message: 'Again' } }),
      await till.say({ user_id: userId, message: 'Work', hand_off: 'always' }),
    ];
    await till.setCaps(defaults);
    for (const { status, body } of refused) {
      expect([what, status, body.error.type, body.error.code]).toEqual([what, 402, 'cap_reached', code]);
      expect(body.error.message).toContain(period);
    }
    const messages = await till.call('GET', `/v1/conversations/${first.id}/messages`);
    expect(messages.body.data).toHaveLength(2);
    expect((await till.say({ user_id: userId, message: 'Again' })).status).toBe(201);
  });

  it('of a user binds that user alone, instead of the cap for users and below or above it [MON-004, MON-021, LIM-703]', async () => {
    await till.call('POST', '/v1/users', { body: { user_id: 'thrifty' } });
    await till.call('PATCH', '/v1/users/thrifty', { body: { spend_cap_usd: 0.05 } });
    till.script(() => ({ text: 'Hello.', usage: sixCents }));
    await till.settled((await till.say({ user_id: 'thrifty', message: 'Hi' })).body);
    expect((await till.say({ user_id: 'thrifty', message: 'Hi' })).body.error.code).toBe('user_cap_reached');
    expect((await till.say({ user_id: 'rich', message: 'Hi' })).status).toBe(201);
    const { body: user } = await till.call('GET', '/v1/users/thrifty');
    expect([user.spend_today_usd, user.spend_month_usd, user.caps_remaining]).toEqual([
      0.06,
      0.06,
      { day_usd: 0, month_usd: null },
    ]);
    // The user's own cap is above the org's for users, so only the others are refused.
    await till.call('PATCH', '/v1/users/thrifty', { body: { spend_cap_usd: 50 } });
    await till.settled((await till.say({ user_id: 'plain', message: 'Hi' })).body);
    await till.setCaps({ user_daily_usd: 0.05 });
    const others = await till.say({ user_id: 'plain', message: 'Hi' });
    const own = await till.say({ user_id: 'thrifty', message: 'Hi' });
    const work = await till.say({ user_id: 'thrifty', message: 'Hi', hand_off: 'always' });
    await till.setCaps(defaults);
    expect([others.body.error.code, own.status, work.status]).toEqual(['user_cap_reached', 201, 201]);
    expect((await till.settled(own.body)).status).toBe('settled');
    const above = await till.call('PATCH', '/v1/users/thrifty', { body: { spend_cap_usd: 100.01 } });
    expect([above.status, above.body.error.code]).toEqual([400, 'cap_above_maximum']);
  });

  it('of 0 lets nothing be spent, not even once [MON-013]', async () => {
    till.script(() => ({ text: 'Hello.' }));
    await till.setCaps({ user_daily_usd: 0 });
    const byUser = await till.say({ user_id: 'brand-new', message: 'Not even once' });
    await till.setCaps({ ...defaults, org_daily_usd: 0, user_daily_usd: 0 });
    const byOrg = await till.say({ message: 'Not even once' });
    await till.setCaps(defaults);
    expect([byUser.body.error.code, byOrg.body.error.code]).toEqual(['user_cap_reached', 'org_cap_reached']);
    expect(till.asked.filter(({ messages }) => JSON.stringify(messages).includes('Not even once'))).toEqual([]);
  });

  it('that is reached in the middle of work stops it before the next tool and the next call [MON-004]', async () => {
    await till.call('POST', '/v1/users', { body: { user_id: 'busy' } });
    await till.call('PATCH', '/v1/users/busy', { body: { spend_cap_usd: 0.15 } });
    const steps = (content: string) => ({ steps: [{ content, status: 'in_progress' }] });
    let calls = 0;
    till.script(() => {
      calls += 1;
      return { calls: [{ name: 'update_plan', arguments: steps(`Step ${calls}`) }], usage: sixCents };
    });
    const { body: made } = await till.say({ user_id: 'busy', message: 'Work', hand_off: 'always' });
    const turn = await till.settled(made);
    expect([turn.status, turn.error.code]).toEqual(['stopped', 'max_budget']);
    const { body: task } = await till.call('GET', `/v1/tasks/${turn.task_id}`);
    // The third call took the spend to 0.18: its tool did not run.
    expect([calls, task.status, task.error.code, task.cost_usd]).toEqual([3, 'failed', 'max_budget', 0.18]);
    expect(task.progress.map(({ content }: { content: string }) => content)).toEqual(['Step 2']);
    const [stopped] = (await till.told('task.stopped')).filter(({ data }) => data.id === task.id);
    expect([stopped.data.reason, stopped.data.message]).toEqual(['max_budget', expect.stringContaining('daily cap')]);
    const limits = await till.call('GET', `/v1/interactions?status=resolved&kind=plan_limit&user_id=busy`);
    const all = await till.call('GET', `/v1/interactions?kind=plan_limit&user_id=busy`);
    expect([...limits.body.data, ...all.body.data]).toHaveLength(1);
  });
});

describe('alerts', () => {
  it('are emitted once per threshold and period, also for concurrent turns [MON-017, MON-018, MON-019]', async () => {
    await till.call('PATCH', '/v1/limits', { body: { usage_alerts: { thresholds: [40, 90] } } });
    await till.call('POST', '/v1/users', { body: { user_id: 'lively' } });
    await till.call('PATCH', '/v1/users/lively', { body: { spend_cap_usd: 1 } });
    till.script(() => ({ text: 'Hello.', usage: sixCents }));
    const about = async (type: string) =>
      (await till.told(type)).filter(({ data }) => data.user_id === 'lively').map(({ data }) => data);
    const sayTogether = async (count: number) => {
      const made = await Promise.all(
        Array.from({ length: count }, () => till.say({ user_id: 'lively', message: 'Hi' })),
      );
      await Promise.all(made.map(({ body }) => till.settled(body)));
    };
    const isTold = (type: string, count: number) =>
      pollWithJob(till.connectionString, 'ledger.fold', async () => (await about(type)).length).toBeGreaterThanOrEqual(
        count,
      );
    await sayTogether(8);
    await isTold('usage.threshold_reached', 1);
    expect(await about('usage.cap_reached')).toEqual([]);
    await sayTogether(9);
    await till.spend(0.5, { userId: 'lively' });
    await isTold('usage.cap_reached', 1);
    await till.spend(0.5, { userId: 'lively' });
    await till.folded();
    expect((await about('usage.threshold_reached')).map(({ cap, threshold }) => [cap, threshold]).sort()).toEqual([
      ['user_daily_usd', 40],
      ['user_daily_usd', 90],
    ]);
    expect(await about('usage.cap_reached')).toEqual([
      {
        object: 'usage_alert',
        cap: 'user_daily_usd',
        user_id: 'lively',
        period: new Date().toISOString().slice(0, 10),
        threshold: 100,
        cap_usd: 1,
        spend_usd: expect.any(Number),
      },
    ]);
  });

  it('come for caps that are raised and lowered, also between two roll-ups [LIM-700, LIM-701, LIM-702]', async () => {
    await till.call('PATCH', '/v1/limits', { body: { usage_alerts: { thresholds: [] } } });
    await till.call('POST', '/v1/users', { body: { user_id: 'steady' } });
    const setCap = (cap: number | null) =>
      till.call('PATCH', '/v1/users/steady', { body: { spend_cap_usd: cap, monthly_cap_usd: cap } });
    const emitted = async () =>
      (await till.told('usage.cap_reached'))
        .filter(({ data }) => data.user_id === 'steady')
        .map(({ data }) => `${data.cap} ${data.cap_usd}`)
        .sort();
    await setCap(0.5);
    await till.spend(0.5, { userId: 'steady' });
    // Reached and raised at once, mostly before a roll-up.
    await setCap(1);
    const first = ['user_daily_usd 0.5', 'user_monthly_usd 0.5'];
    await till.folded();
    expect(await emitted()).toEqual(first);
    await till.spend(0.5, { userId: 'steady' });
    const second = [...first, 'user_daily_usd 1', 'user_monthly_usd 1'].sort();
    await pollWithJob(till.connectionString, 'ledger.fold', emitted).toEqual(second);
    // Without own caps, those of the org for users apply. Nothing more is spent.
    await setCap(null);
    await till.setCaps({ user_daily_usd: 0.75 });
    await pollWithJob(till.connectionString, 'ledger.fold', emitted).toEqual([...second, 'user_daily_usd 0.75'].sort());
    await till.setCaps(defaults);
  });
});
