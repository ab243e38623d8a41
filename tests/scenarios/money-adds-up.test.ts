import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cast, lastText, resultsIn } from '../support/cast.ts';
import { startTill, type Till } from './money.fixture.ts';

/** One model of every vendor, so that each way of reporting usage is met. */
const models = {
  anthropic: 'claude-haiku-5-5',
  openai: 'gpt-6.1-terra',
  google: 'gemini-3.5-flash',
  compatible: 'compatible/scripted',
  offline: 'offline',
} as const;

let till: Till;
beforeAll(async () => {
  till = await startTill({}, { vendors: true });
  for (const [name, model] of Object.entries(models)) {
    await till.apply({ name, instructions: 'Be kind.', memory: 'none', model });
  }
});
afterAll(() => till.stop());

/** Now and then as many as cost more, each of them. */
const count = fc.oneof(
  { arbitrary: fc.integer({ min: 0, max: 5_000 }), weight: 5 },
  fc.integer({ min: 0, max: 300_000 }),
);
const usage = fc.option(
  fc.record({ inputTokens: count, outputTokens: count, cacheReadTokens: count, cacheWriteTokens: count }),
  { nil: null },
);
/** How the model's last call of a message ends. */
const play = fc.record({
  vendor: fc.constantFrom(...(Object.keys(models) as (keyof typeof models)[])),
  user: fc.constantFrom('ann', 'bob', null),
  kind: fc.constantFrom('reply' as const, 'work' as const, 'judged' as const),
  steps: fc.integer({ min: 0, max: 2 }),
  end: fc.constantFrom('whole' as const, 'cut' as const, 'stopped' as const),
  text: fc.array(fc.constantFrom('Yes. ', 'Grüße ', '你好 ', 'x'), { minLength: 1, maxLength: 6 }),
  usage,
});
type Play = typeof play extends fc.Arbitrary<infer T> ? T : never;

/** Each conversation's message contains its script, so that all of them can run at once. */
function script(plays: readonly Play[]): void {
  const playOf = (text: string) => plays[Number(/play (\d+)/.exec(text)?.[1])] as Play;
  till.script(
    cast({
      agent(request) {
        const { steps, end, text, usage: used, kind } = playOf(lastText(request));
        if (resultsIn(request).length < steps) {
          return { calls: [{ name: 'no_such_tool', arguments: {} }], usage: used };
        }
        if (end === 'stopped') return { text, fail: 'hang' };
        if (end === 'cut') return { text, fail: 'cut' };
        return { text: kind === 'reply' ? text : text.join(''), usage: used };
      },
      judge: ({ transcript }) => ({
        text: '{"criteria":[{"text":"x","met":true,"reason":"It is."}],"must_never":[]}',
        usage: playOf(transcript).usage,
      }),
    }),
  );
}

const micros = (usd: number) => Math.round(usd * 1_000_000);
/** As an amount is shown to five decimals. */
const shown = (amount: number) => Math.round(amount / 10) / 100_000;

async function perform({ vendor, user, kind, end, steps }: Play, at: number): Promise<string> {
  const { body: made } = await till.say({
    deployment: vendor,
    ...(user !== null && { user_id: user }),
    message: `Please play ${at}`,
    ...(kind !== 'reply' && { hand_off: 'always' }),
    ...(kind === 'judged' && { success_criteria: 'It is done.' }),
  });
  if (end === 'stopped' && vendor !== 'offline') {
    const calls = () => till.asked.filter((request) => lastText(request).includes(`play ${at}`)).length;
    await expect.poll(calls, { timeout: 30_000 }).toBeGreaterThan(steps);
    await till.call('POST', `/v1/conversations/${made.id}/stop`);
  }
  await till.until(`/v1/conversations/${made.id}`, ({ status }) => status === 'idle');
  return made.id;
}

async function assertAddsUp(
  conversations: readonly string[],
  balanceBefore: number,
  spentBefore: number,
): Promise<void> {
  const ledger = await till.sql(
    `SELECT conversation_id, turn_id, task_id, amount_micros::int AS micros, quantity * unit_price_micros AS exact
      FROM ledger_entries WHERE account = 'spend'`,
  );
  const sumOf = (rows: typeof ledger) => rows.reduce((sum, row) => sum + row.micros, 0);
  for (const { micros: amount, exact } of ledger) expect(Math.abs(amount - Number(exact))).toBeLessThan(1);
  for (const id of conversations) {
    const charged = ledger.filter(({ conversation_id }) => conversation_id === id);
    const { body: page } = await till.call('GET', `/v1/usage/line-items?conversation_id=${id}&limit=100`);
    const items = page.data.reduce((sum: number, { cost_usd }: { cost_usd: number }) => sum + micros(cost_usd), 0);
    const { body: conversation } = await till.call('GET', `/v1/conversations/${id}`);
    const breakdown = Object.values(conversation.cost_breakdown as Record<string, number>);
    expect([items, micros(page.total.cost_usd), conversation.cost_usd]).toEqual([
      sumOf(charged),
      sumOf(charged),
      shown(sumOf(charged)),
    ]);
    expect(shown(micros(breakdown.reduce((sum, part) => sum + part, 0)))).toBe(conversation.cost_usd);
    const { body: log } = await till.call('GET', `/v1/conversations/${id}/events?format=json&limit=100`);
    for (const { type, data } of log.data) {
      if (type !== 'turn.settled') continue;
      const ofTurn = sumOf(charged.filter(({ turn_id }) => turn_id === data.turn.id));
      expect([data.turn.status, data.turn.cost_usd]).toEqual([data.turn.status, shown(ofTurn)]);
      const { body: trace } = await till.call('GET', `/v1/conversations/${id}/turns/${data.turn.id}/trace`);
      const ofReply = charged.filter(({ turn_id, task_id }) => turn_id === data.turn.id && task_id === null);
      expect(trace.totals.cost_usd).toBe(shown(sumOf(ofReply)));
    }
    for (const taskId of new Set(charged.flatMap(({ task_id }) => task_id ?? []))) {
      const { body: task } = await till.call('GET', `/v1/tasks/${taskId}`);
      const { body: trace } = await till.call('GET', `/v1/tasks/${taskId}/trace`);
      const ofTask = shown(sumOf(charged.filter(({ task_id }) => task_id === taskId)));
      expect([task.cost_usd, trace.totals.cost_usd]).toEqual([ofTask, ofTask]);
    }
  }
  const steps = await till.sql(`
    SELECT s.run_id FROM (SELECT run_id, sum(cost_micros) AS cost FROM run_steps GROUP BY run_id) s
    FULL JOIN (SELECT COALESCE(task_id, turn_id) AS run_id, sum(amount_micros) AS cost FROM ledger_entries
      WHERE account = 'spend' AND kind IN ('orchestrator', 'intelligence') GROUP BY 1) l USING (run_id)
    WHERE COALESCE(s.cost, 0) <> COALESCE(l.cost, 0)`);
  expect(steps).toEqual([]);
  const total = sumOf(ledger);
  for (const group of ['day', 'user', 'deployment', 'conversation', 'task', 'model', 'kind']) {
    const { body: report } = await till.call('GET', `/v1/usage?group_by=${group}&limit=100`);
    expect([group, report.total.cost_usd]).toEqual([group, shown(total)]);
    if (report.next_cursor !== null) continue;
    const rows = report.data.reduce((sum: number, { cost_usd }: { cost_usd: number }) => sum + cost_usd, 0);
    // Each row is rounded from its own micro-dollars.
    expect(Math.abs(rows - report.total.cost_usd)).toBeLessThanOrEqual(0.000005 * (report.data.length + 1));
  }
  expect(micros(await till.balance())).toBe(micros(shown(micros(balanceBefore) - (total - spentBefore))));
  expect(
    await till.sql('SELECT transfer_id FROM ledger_entries GROUP BY transfer_id HAVING sum(amount_micros) <> 0'),
  ).toEqual([]);
  await expect.poll(() => till.sql('SELECT * FROM reservations')).toEqual([]);
}

it('adds up in every view, for any usage, cost and outcome of calls [MON-166, MON-167, MON-168, MON-022, MON-008]', async () => {
  const balance = await till.balance();
  await fc.assert(
    fc.asyncProperty(fc.array(play, { minLength: 4, maxLength: 8 }), async (plays) => {
      script(plays);
      const conversations = await Promise.all(plays.map(perform));
      await assertAddsUp(conversations, balance, 0);
    }),
    { numRuns: Number(process.env.VESTRA_MONEY_RUNS ?? 6), endOnFailure: true },
  );
}, 240_000);

it('charges cache writes and reads at their own prices, and no token twice [MON-167]', async () => {
  const used = { inputTokens: 1_000, outputTokens: 100, cacheReadTokens: 3_000, cacheWriteTokens: 2_000 };
  const unitsOf = async (deployment: string) => {
    till.script(() => ({ text: 'Hello.', usage: used }));
    const { body: made } = await till.say({ deployment, message: 'Hi' });
    await till.settled(made);
    const items = await till.lineItems(`conversation_id=${made.id}`);
    return Object.fromEntries(
      items.map(({ unit, quantity, unit_price_usd, cost_usd }) => [unit, [quantity, unit_price_usd, cost_usd]]),
    );
  };
  expect(await unitsOf('anthropic')).toEqual({
    input_tokens: [1_000, 1e-7, 0.0001],
    output_tokens: [100, 5e-7, 0.00005],
    cache_read_tokens: [3_000, 1e-8, 0.00003],
    cache_write_tokens: [2_000, 1.25e-7, 0.00025],
  });
  // The others count what they serve from their caches into the input, and say nothing here of what they keep.
  for (const [vendor, price] of [
    ['openai', 0.000001],
    ['google', 0.0000015],
    ['compatible', 0.000001],
  ] as const) {
    const { cache_write_tokens: kept, ...units } = await unitsOf(vendor);
    expect([vendor, kept, units.input_tokens?.slice(0, 2), units.cache_read_tokens?.[0]]).toEqual([
      vendor,
      undefined,
      [1_000, price],
      3_000,
    ]);
  }
});
