import { type Model, type ModelEvent, ModelFailure, type ModelRequest } from '@vestra/agent/model';
import { saidByUser } from '@vestra/agent/question';
import { Failure } from '@vestra/contract/errors';
import { flatPrice } from '@vestra/models/prices';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createHoldQueue, type HoldQueue } from '../../billing/hold-queue.ts';
import { releaseHold, reserve } from '../../billing/holds.ts';
import { fund, item, newTenant, openLedger, pay } from '../../billing/ledger.fixture.ts';
import { createLog } from '../../main/log.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Database } from '../../platform/db/pool.ts';
import { one } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { integer } from '../../platform/db/table.ts';
import { ask, forWaitingCaller, judgeLine, paidByOrg } from './model-questions.ts';

let db: Database;
let close: () => Promise<void>;
let money: HoldQueue;
beforeAll(async () => {
  ({ db, close } = await openLedger());
  money = createHoldQueue({ db, processNews: { notify: () => {}, on: () => {} }, log: createLog('silent') });
});
afterAll(() => close());

/** One dollar per million tokens, input and output. */
const price = flatPrice(1, 1);
const priced = { id: 'm', price, max_output_tokens: 1_000 };
const usage = { inputTokens: 30, outputTokens: 7, cacheReadTokens: 0, cacheWriteTokens: 0 };
const { signal: never } = new AbortController();
const question = { purpose: 'interview' as const, prompt: 'Count.', messages: [saidByUser('How many?')] };
const schema = z.object({ count: z.int() });

const end: ModelEvent = { type: 'end', usage, cut: false };
const text = (words: string): ModelEvent => ({ type: 'text', text: words });

async function sumsOf({ orgId }: Tenant): Promise<{ holds: number; held: number; charges: number; charged: number }> {
  return one(
    db,
    { holds: integer(), held: integer(), charges: integer(), charged: integer() },
    sql`SELECT (SELECT count(*)::int FROM reservations WHERE org_id = ${orgId}) AS holds,
      (SELECT COALESCE(sum(amount_micros), 0)::int FROM reservations WHERE org_id = ${orgId}) AS held,
      count(DISTINCT transfer_id)::int AS charges, COALESCE(sum(amount_micros), 0)::int AS charged
    FROM ledger_entries WHERE org_id = ${orgId} AND account = 'spend'`,
  );
}

/** An org with one dollar. Its model gives these answers in order and records the money held during each call. */
async function orgWith(...answers: ((request: ModelRequest) => AsyncIterable<ModelEvent> | Iterable<ModelEvent>)[]) {
  const tenant = await newTenant(db);
  await fund(db, tenant, 1_000_000n);
  const asked: { request: ModelRequest; holds: number; held: number }[] = [];
  const model: Model = {
    async *stream(request) {
      const { holds, held } = await sumsOf(tenant);
      asked.push({ request: { ...request, messages: [...request.messages] }, holds, held });
      yield* (answers.shift() as (typeof answers)[0])(request);
    },
  };
  const engine = { db, money, models: { model: () => model } as never };
  const account = { tenant, model: priced, deploymentId: null, conversationId: null };
  const payerWithin = (waitMs: number) => paidByOrg(engine, { ...account, waitMs });
  return { tenant, asked, payer: paidByOrg(engine, account), payerWithin };
}

describe('ask', () => {
  it('sends a wrong answer back with the reason, and holds and charges money for each call', async () => {
    const { tenant, asked, payer } = await orgWith(
      () => [text('Seven.'), end],
      () => [text('```json\n{"count": 7}\n```'), end],
    );
    expect(await ask({ ...question, schema, repairs: 1, payer, signal: never })).toEqual({ count: 7 });
    expect(asked.map(({ holds }) => holds)).toEqual([1, 1]);
    // The hold covers the longest answer and the request, which grows by the repair.
    const [first = 0, second = 0] = asked.map(({ held }) => held);
    expect([first > 1_000, second > first]).toEqual([true, true]);
    expect(await sumsOf(tenant)).toEqual({ holds: 0, held: 0, charges: 2, charged: 2 * 37 });
    expect(asked[0]?.request).toMatchObject({ model: 'm', purpose: 'interview', tools: [], maxOutputTokens: 1_000 });
    expect(asked[0]?.request.outputSchema).toEqual({
      type: 'object',
      properties: { count: { type: 'integer' } },
      required: ['count'],
      additionalProperties: false,
    });
    expect(asked[1]?.request.messages).toEqual([
      ...question.messages,
      { role: 'agent', text: 'Seven.', calls: [] },
      saidByUser('This cannot be used:\n- It is not JSON of the asked shape.'),
    ]);
  });

  it('fails with invalid_answer after the last repair', async () => {
    const { asked, payer } = await orgWith(
      () => [end],
      () => [text('{"count": "7"}'), end],
    );
    const asking = ask({ ...question, schema, repairs: 1, payer, signal: never });
    await expect(asking).rejects.toMatchObject({ name: 'ModelFailure', reason: 'invalid_answer' });
    expect(asked[1]?.request.messages[1]).toMatchObject({ role: 'agent', text: '[nothing]' });
  });

  it('makes no call if the org cannot pay', async () => {
    const { tenant, asked, payer } = await orgWith(() => [end]);
    await pay(db, tenant, item(1_000_000));
    await expect(ask({ ...question, schema, payer, signal: never })).rejects.toMatchObject({ code: 'wallet_empty' });
    expect(asked).toEqual([]);
  });

  it('waits for money that another call holds, at most waitMs', async () => {
    const { tenant, asked, payer, payerWithin } = await orgWith(() => [text('{"count": 1}'), end]);
    const all = { userId: null, userCaps: null, amountMicros: 1_000_000n };
    const other = (await reserve(db, tenant, all)) as { reservationId: string };
    const late = ask({ ...question, schema, payer: payerWithin(1), signal: never });
    await expect(late).rejects.toBeInstanceOf(Failure);
    const waiting = ask({ ...question, schema, payer, signal: never });
    await releaseHold(db, tenant, other.reservationId);
    money.freed(tenant);
    expect(await waiting).toEqual({ count: 1 });
    expect(asked).toHaveLength(1);
  });

  let stopping = new AbortController();
  it.each([
    [
      'fails',
      async function* () {
        yield text('x'.repeat(70));
        throw new ModelFailure('unavailable', 'The line is cut.');
      },
    ],
    [
      'is stopped',
      async function* ({ signal }: ModelRequest) {
        yield text('x'.repeat(70));
        stopping.abort();
        signal.throwIfAborted();
      },
    ],
  ])('charges the partial usage of a call that %s', async (_what, answer) => {
    stopping = new AbortController();
    const { tenant, payer } = await orgWith(answer);
    await expect(ask({ ...question, schema, payer, signal: stopping.signal })).rejects.toThrow();
    const { charged, ...rest } = await sumsOf(tenant);
    expect(rest).toEqual({ holds: 0, held: 0, charges: 1 });
    expect(charged).toBeGreaterThan(20);
  });
  it('fails with API errors for a waiting caller', async () => {
    const failing = (reason: ModelFailure['reason']) => (): Iterable<ModelEvent> => {
      throw new ModelFailure(reason, 'It is away.');
    };
    const { payer } = await orgWith(failing('timeout'), failing('unavailable'));
    const asking = () => ask({ ...question, schema, payer: forWaitingCaller(payer), signal: never });
    await expect(asking()).rejects.toMatchObject({ code: 'timeout' });
    await expect(asking()).rejects.toMatchObject({ code: 'model_error', message: 'It is away.' });
  });
});

describe('judgeLine', () => {
  const judge = async (kind: 'criterion' | 'must_never', ...answers: unknown[]) => {
    const asked: ModelRequest[] = [];
    const payer = {
      ...priced,
      async *stream(request: ModelRequest) {
        asked.push(request);
        yield text(JSON.stringify(answers.shift()));
        yield end;
      },
    };
    const judged = { line: { kind, text: 'It greets.' }, transcript: [{ speaker: 'Agent' as const, text: 'Hello' }] };
    const judgement = await judgeLine((each) => ask({ ...each, payer, signal: never }), judged);
    return { asked, judgement };
  };
  const found = { criteria: [{ met: true, reason: '“Hello”' }], must_never: [{ broken: false, reason: 'No.' }] };

  /** The same entries in both lists, each with a verdict, the text of a line and a reason. */
  const entries = (...given: [holds: boolean | null, text?: string, reason?: string][]) => ({
    criteria: given.map(([met, text = 'It greets.', reason = 'Seen.']) => ({ text, met, reason })),
    must_never: given.map(([broken, text = 'It greets.', reason = 'Seen.']) => ({ text, broken, reason })),
  });
  const contradicted = { holds: null, reason: 'The judge contradicted itself about this.' };

  it.each([
    ['a criterion', 'criterion', [found], { holds: true, reason: '“Hello”' }],
    ['a rule', 'must_never', [found], { holds: false, reason: 'No.' }],
    ['a second try', 'criterion', ['?', found], { holds: true, reason: '“Hello”' }],
    ['three tries without a verdict', 'criterion', ['?', '?', '?'], { holds: null }],
    ['an empty list', 'criterion', [{ criteria: [], must_never: [] }], { holds: null }],
    ['no evidence', 'criterion', [{ criteria: [{ met: true, reason: ' ' }], must_never: [] }], { holds: null }],
    [
      'an undecided verdict [OFF-105]',
      'criterion',
      [{ criteria: [{ met: null, reason: 'It does not show.' }], must_never: [] }],
      { holds: null, reason: 'It does not show.' },
    ],
    ['yes and no', 'criterion', [entries([true], [false])], contradicted],
    ['no and yes', 'must_never', [entries([false], [true])], contradicted],
    ['yes and undecided', 'criterion', [entries([true], [null])], contradicted],
    ['yes without evidence and no', 'criterion', [entries([true, '', ' '], [false])], contradicted],
    [
      'yes twice, once with evidence',
      'criterion',
      [entries([true, '', ' '], [true])],
      { holds: true, reason: 'Seen.' },
    ],
    [
      'another line three times',
      'must_never',
      [entries([false, 'It smiles.']), entries([false, 'It smiles.']), entries([false, 'It smiles.'])],
      { holds: null },
    ],
    [
      'another line, then its own',
      'criterion',
      [entries([true, 'It smiles.']), entries([false, 'It greets.'])],
      { holds: false },
    ],
    ['its own line among others', 'criterion', [entries([true, 'It smiles.'], [false])], { holds: false }],
    ['its line in other marks', 'criterion', [entries([true, '“It greets”'])], { holds: true }],
    ['its line with the label', 'must_never', [entries([true, 'Must never: It greets.'])], { holds: true }],
  ] as const)('reads %s [TRUN-700, TRUN-701]', async (_what, kind, answers, expected) => {
    const { asked, judgement } = await judge(kind, ...answers);
    expect(judgement).toMatchObject(expected);
    expect(asked).toHaveLength(answers.length);
  });

  it('asks for the text of the line and a verdict on it', async () => {
    const { asked } = await judge('criterion', found);
    const list = (verdict: string) => ({
      type: 'array',
      items: {
        type: 'object',
        properties: { text: { type: 'string' }, [verdict]: { type: ['boolean', 'null'] }, reason: { type: 'string' } },
        required: ['text', verdict, 'reason'],
        additionalProperties: false,
      },
    });
    expect(asked[0]?.outputSchema).toEqual({
      type: 'object',
      properties: { criteria: list('met'), must_never: list('broken') },
      required: ['criteria', 'must_never'],
      additionalProperties: false,
    });
  });
});
