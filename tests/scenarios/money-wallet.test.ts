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
  it('holds what the ledger says after 200 turns at once [MON-001, MON-005, MON-007, MON-008, USE-001]', async () => {
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

  it('that runs out under 20 turns at once ends each of them, and is overdrawn by at most one call of each [MON-002]', async () => {
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
    // The calls that ran when it became empty, and not one more.
    expect(balance).toBeLessThanOrEqual(0);
    expect(balance).toBeGreaterThan(shown(-0.03 * taken.length));
    expect(await sumOfLedger('test')).toBe(balance);
    expect(await held()).toEqual([]);
  });

  it('that runs out stops work in its middle and says why [MON-002]', async () => {
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

  it('of live mode starts empty, says who fills it, and is another than that of test mode [MON-002, MON-011, MON-012, MON-025]', async () => {
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
