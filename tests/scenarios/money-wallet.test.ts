import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shown, startTill, type Till } from './money.fixture.ts';

let till: Till;
beforeAll(async () => {
  till = await startTill();
  const file = { name: 'desk', instructions: 'Be kind.', memory: 'none' };
  await till.apply(file);
  await till.apply(file, till.liveKey);
  await till.setCaps({ org_daily_usd: 1000, user_daily_usd: null });
});
afterAll(() => till.stop());

const threeCents = { inputTokens: 10_000, outputTokens: 5_000 };

async function sumOfLedger(mode: 'test' | 'live'): Promise<number> {
  const rows = await till.sql(
    `SELECT sum(amount_micros) AS micros FROM ledger_entries WHERE mode = $1 AND account = 'wallet'`,
    [mode],
  );
  return shown(Number(rows[0].micros) / 1_000_000);
}

/** Leaves this much in the test wallet. */
async function leave(usd: number): Promise<void> {
  const rest = shown((await till.balance()) - usd);
  if (rest > 0) await till.spend(rest);
  else if (rest < 0) await till.pay(-rest, 'test');
  expect(await till.balance()).toBe(usd);
}

const held = () => till.sql('SELECT * FROM reservations');

describe('the wallet', () => {
  it('matches the ledger after 200 concurrent turns [MON-001, MON-005, MON-007, MON-008, USE-001]', async () => {
    const before = await till.balance();
    till.script(() => ({ text: 'Hello.', usage: { inputTokens: 1_003, outputTokens: 7 } }));
    const made = await Promise.all(
      Array.from({ length: 200 }, (_, at) => till.say({ user_id: `user-${at % 10}`, message: 'Hi' })),
    );
    expect(made.filter(({ status }) => status !== 201)).toEqual([]);
    const states = () => till.sql('SELECT state, count(*)::int AS turns FROM turns GROUP BY state');
    await expect.poll(states, { timeout: 60_000, interval: 100 }).toEqual([{ state: 'settled', turns: 200 }]);
    // 1,003 + 4 × 7 micro-dollars each.
    const spent = (200 * 1_031) / 1_000_000;
    expect([await till.balance(), await sumOfLedger('test')]).toEqual([shown(before - spent), shown(before - spent)]);
    await till.folded();
    expect(await till.balance()).toBe(shown(before - spent));
    const unbalanced = await till.sql(
      'SELECT transfer_id FROM ledger_entries GROUP BY transfer_id HAVING sum(amount_micros) <> 0',
    );
    expect(unbalanced).toEqual([]);
    const { body: report } = await till.call('GET', '/v1/usage?group_by=user&limit=100');
    expect(report.data.filter(({ key }: { key: string }) => key.startsWith('user-'))).toEqual(
      Array.from({ length: 10 }, () => expect.objectContaining({ cost_usd: shown(spent / 10), input_tokens: 20_060 })),
    );
    expect(await held()).toEqual([]);
  });

  it('that is empty refuses new work and ends none twice [MON-002]', async () => {
    await leave(0.02);
    till.script(() => ({ text: 'Hello.', usage: threeCents }));
    const { body: made } = await till.say({ message: 'Hi' });
    expect((await till.settled(made)).status).toBe('settled');
    expect(await till.balance()).toBe(-0.01);
    const refused = [
      await till.say({ message: 'Again' }),
      await till.call('POST', `/v1/conversations/${made.id}/messages`, { body: { message: 'Again' } }),
    ];
    for (const { status, body } of refused) {
      expect([status, body.error.type, body.error.code]).toEqual([402, 'cap_reached', 'wallet_empty']);
      expect(body.error.message).toContain('vestra admin credit');
    }
    await till.pay(1, 'test');
    expect((await till.settled((await till.say({ message: 'Again' })).body)).status).toBe('settled');
  });

  it('that runs out under 20 turns at once ends each of them, and is overdrawn by the last calls alone [MON-002, MON-163]', async () => {
    await leave(0.05);
    let calls = 0;
    till.script(() => {
      calls += 1;
      return { calls: [{ name: 'no_such_tool', arguments: {} }], usage: threeCents, delayMs: 20 };
    });
    const made = await Promise.all(Array.from({ length: 20 }, () => till.say({ message: 'Go on for ever' })));
    const taken = made.filter(({ status }) => status === 201);
    expect(made.filter(({ status }) => status !== 201).map(({ body }) => body.error.code)).toEqual(
      made.filter(({ status }) => status !== 201).map(() => 'wallet_empty'),
    );
    expect(taken.length).toBeGreaterThan(0);
    const turns = await Promise.all(taken.map(({ body }) => till.settled(body)));
    expect(turns.map(({ status, error }) => [status, error.code])).toEqual(
      turns.map(() => ['stopped', 'credits_exhausted']),
    );
    const balance = await till.balance();
    expect(balance).toBe(shown(0.05 - calls * 0.03));
    // Two calls of at most 0.04 each are let run on 0.05, and not one more.
    expect([calls, balance]).toEqual([2, -0.01]);
    expect(await sumOfLedger('test')).toBe(balance);
    expect(await held()).toEqual([]);
  });

  it('that runs out stops a running task with that reason [MON-002]', async () => {
    await leave(0.05);
    till.script(() => ({
      calls: [{ name: 'update_plan', arguments: { steps: [{ content: 'Count', status: 'in_progress' }] } }],
      usage: threeCents,
    }));
    const { body: made } = await till.say({ message: 'Work', hand_off: 'always' });
    const turn = await till.settled(made);
    expect([turn.status, turn.error.code]).toEqual(['stopped', 'credits_exhausted']);
    const [stopped] = (await till.told('task.stopped')).filter(({ data }) => data.id === turn.task_id);
    expect([stopped.data.reason, stopped.data.message]).toEqual([
      'credits_exhausted',
      expect.stringContaining('vestra admin credit'),
    ]);
    expect([stopped.data.status, stopped.data.cost_usd]).toEqual(['failed', 0.06]);
    await leave(50);
  });

  it('of live mode starts empty, names who fills it, and is separate from that of test mode [MON-002, MON-011, MON-012, MON-025]', async () => {
    till.script(() => ({ text: 'Hello.', usage: threeCents }));
    const test = await till.balance();
    expect(await till.balance(till.liveKey)).toBe(0);
    const refused = await till.say({ message: 'Hi' }, till.liveKey);
    expect([refused.status, refused.body.error.code]).toEqual([402, 'wallet_empty']);
    expect(refused.body.error.message).toContain('vestra admin credit');
    await till.pay(0.5, 'live');
    await till.settled((await till.say({ message: 'Hi' }, till.liveKey)).body, till.liveKey);
    expect([await till.balance(till.liveKey), await till.balance()]).toEqual([0.47, test]);
    await till.settled((await till.say({ message: 'Hi' })).body);
    expect([await till.balance(till.liveKey), await till.balance()]).toEqual([0.47, shown(test - 0.03)]);
    const { body: report } = await till.call('GET', '/v1/usage', { key: till.liveKey });
    expect(report.total.cost_usd).toBe(0.03);
  });

  it('holds nothing for a message that another process answers', async () => {
    const front = await startTill({ VESTRA_ROLE: 'api' });
    try {
      await front.apply({ name: 'desk', instructions: 'Be kind.', memory: 'none' });
      const { body: made } = await front.say({ message: 'Hi' });
      expect(made.status).toBe('replying');
      expect(await front.sql('SELECT * FROM reservations')).toEqual([]);
    } finally {
      await front.stop();
    }
  });
});

describe('money that is held by calls that run', () => {
  /** A model that answers when it is told to. */
  function gated(usage: { inputTokens: number; outputTokens: number }) {
    const waiting: (() => void)[] = [];
    let isOpen = false;
    till.script(async () => {
      if (!isOpen) await new Promise<void>((resolve) => waiting.push(resolve));
      return { text: 'Hello.', usage };
    });
    return {
      waiting,
      open: () => {
        isOpen = true;
        for (const go of waiting.splice(0)) go();
      },
    };
  }

  it('is waited for: five messages at once, of which the cap lets few run, are all answered [MON-161, MON-164]', async () => {
    await till.call('POST', '/v1/users', { body: { user_id: 'keen' } });
    await till.call('PATCH', '/v1/users/keen', { body: { spend_cap_usd: 0.05 } });
    const model = gated({ inputTokens: 100, outputTokens: 100 });
    const made = await Promise.all(Array.from({ length: 5 }, () => till.say({ user_id: 'keen', message: 'Hi' })));
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
    // Each may cost 8,192 tokens of output, about 0.04: the second leaves nothing for a third.
    await expect.poll(() => model.waiting.length).toBe(2);
    const rows = await till.sql(`SELECT amount_micros FROM reservations WHERE user_id = 'keen'`);
    expect(rows).toHaveLength(2);
    for (const { amount_micros } of rows) expect(Number(amount_micros)).toBeGreaterThan(8_192 * 4);
    expect(till.asked.every(({ body }) => body.max_tokens === 8_192)).toBe(true);
    model.open();
    const turns = await Promise.all(made.map(({ body }) => till.settled(body)));
    expect(turns.map(({ status, cost_usd }) => [status, cost_usd])).toEqual(turns.map(() => ['settled', 0.0005]));
    expect(await held()).toEqual([]);
  });

  it('under 200 users at one cap lets all be done that fits, and nothing beyond [MON-161, MON-163]', async () => {
    const { body: before } = await till.call('GET', '/v1/usage?group_by=kind');
    const spent = before.total.cost_usd;
    // 30 calls of 0.01 fit.
    await till.setCaps({ org_daily_usd: shown(spent + 0.3) });
    let calls = 0;
    till.script(() => {
      calls += 1;
      return { text: 'Hello.', usage: { inputTokens: 2_000, outputTokens: 2_000 }, delayMs: 20 };
    });
    const made = await Promise.all(
      Array.from({ length: 200 }, (_, at) => till.say({ user_id: `crowd-${at}`, message: 'Hi' })),
    );
    for (const { status, body } of made) if (status !== 201) expect(body.error.code).toBe('org_cap_reached');
    const ends = () =>
      till.sql(`SELECT state, error_code, count(*)::int AS turns FROM turns WHERE user_id LIKE 'crowd-%'
        GROUP BY state, error_code ORDER BY state`);
    const taken = made.filter(({ status }) => status === 201).length;
    await expect.poll(ends, { timeout: 60_000, interval: 100 }).toEqual([
      { state: 'settled', error_code: null, turns: 30 },
      { state: 'stopped', error_code: 'max_budget', turns: taken - 30 },
    ]);
    await till.setCaps({ org_daily_usd: 1000 });
    expect(calls).toBe(30);
    const { body: after } = await till.call('GET', '/v1/usage?group_by=kind');
    expect(shown(after.total.cost_usd - spent)).toBe(0.3);
    expect(await held()).toEqual([]);
  });

  it('ends no work while a tool runs, and none is held then', async () => {
    await till.call('POST', '/v1/users', { body: { user_id: 'patient' } });
    await till.apply({
      name: 'asking',
      instructions: 'Be kind.',
      memory: 'none',
      tools: [{ function: 'look', description: 'Looks.', input: {}, read_only: true }],
    });
    till.script(({ messages }) =>
      messages.at(-1)?.role === 'tool' ? { text: 'Seen.' } : { calls: [{ name: 'look', arguments: {} }] },
    );
    const { body: made } = await till.say({ deployment: 'asking', user_id: 'patient', message: 'Look' });
    const { pending_tool_calls } = await till.until(
      `/v1/conversations/${made.id}`,
      (body) => body.pending_tool_calls.length === 1,
    );
    expect(await till.sql(`SELECT FROM reservations WHERE user_id = 'patient'`)).toEqual([]);
    await till.call('POST', `/v1/interactions/${pending_tool_calls[0].call_id}/answer`, { body: { output: 'It is.' } });
    expect((await till.settled(made)).status).toBe('settled');
  });
});
