import { jsonSchemaOf } from '@vestra/agent/json-schema';
import { createMeter } from '@vestra/agent/meter';
import { type Model, ModelFailure, type ModelRequest } from '@vestra/agent/model';
import { notOfTheShape, parsedJson, type Question, type Reading, saidByUser, unusable } from '@vestra/agent/question';
import { fail } from '@vestra/contract/errors';
import { type BudgetOwner, charge, refusalFailure } from '../../billing/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { type CallModel, itemsOfCall, mostOfRequest } from '../turns/call-price.ts';
import type { Turns } from '../turns/ports.ts';

/** A model whose calls somebody pays for: money is held before each, and what it has used is charged, whatever came of it. */
export type PaidModel = Pick<CallModel, 'id' | 'max_output_tokens'> & Model;

/** Asks a model for an answer of a given shape; an answer that is of no use is sent back as often as the question says. */
export async function ask<Answer, Value = Answer>(
  question: Question<Answer, Value> & { payer: PaidModel; signal: AbortSignal },
): Promise<Value> {
  const { purpose, prompt, schema, shown = schema, repairs = 0, read = asItIs, payer, signal } = question;
  const messages = [...question.messages];
  const outputSchema = jsonSchemaOf(shown);
  for (let left = repairs; ; left--) {
    const text = await wholeText(payer, {
      model: payer.id,
      purpose,
      system: [prompt],
      messages,
      tools: [],
      outputSchema,
      maxOutputTokens: payer.max_output_tokens,
      signal,
    });
    const answer = schema.safeParse(parsedJson(text));
    const reading = (await read(answer.success ? answer.data : null, left === 0, text)) as Reading<Value>;
    if ('value' in reading) return reading.value;
    if (left === 0) throw new ModelFailure('invalid_answer', 'The model did not answer in the shape it was asked for.');
    messages.push({ role: 'agent', text: text || '[nothing]', calls: [] }, saidByUser(reading.again));
  }
}

const asItIs = <Answer>(answer: Answer | null): Reading<Answer> =>
  answer === null ? { again: unusable([notOfTheShape]) } : { value: answer };

async function wholeText(model: Model, request: ModelRequest): Promise<string> {
  let text = '';
  for await (const event of model.stream(request)) if (event.type === 'text') text += event.text;
  return text;
}

const longestWaitMs = 600_000;

type Account = {
  tenant: Tenant;
  model: CallModel;
  deploymentId: string | null;
  conversationId: string | null;
  /** Whose caps count as well; absent: nobody's. */
  spending?: BudgetOwner;
  /** How long a call waits for money that other calls hold. */
  waitMs?: number;
};

/** Paid by the org: a call that it cannot pay for is not made. */
export function paidByOrg({ db, money, models }: Pick<Turns, 'db' | 'money' | 'models'>, account: Account): PaidModel {
  const { tenant, model, deploymentId, conversationId, waitMs = longestWaitMs } = account;
  const { spending = { userId: null, userCaps: null } } = account;
  const about = { userId: spending.userId, deploymentId, conversationId, taskId: null, turnId: null };
  return {
    id: model.id,
    max_output_tokens: model.max_output_tokens,
    async *stream(request) {
      const amountMicros = mostOfRequest(model, request);
      const held = await money.hold(tenant, { ...spending, amountMicros, waitMs, signal: request.signal });
      if (!held.allowed) throw refusalFailure(held);
      const meter = createMeter();
      try {
        yield* meter.listenTo(models.model(model.id)).stream(request);
      } finally {
        const usage = meter.used();
        const items = usage ? itemsOfCall('background', model, usage, about) : [];
        await transaction(db, (tx) => charge(tx, tenant, { items, reservationId: held.reservationId }));
        money.freed(tenant);
      }
    },
  };
}

const patienceMs = 120_000;

/** For a caller of the API who waits: what goes wrong with the model, or takes too long, is an error of the API. */
export const forWaitingCaller = (payer: PaidModel): PaidModel => ({
  ...payer,
  async *stream(request) {
    const patience = AbortSignal.timeout(patienceMs);
    try {
      yield* payer.stream({ ...request, signal: AbortSignal.any([request.signal, patience]) });
    } catch (error) {
      if (patience.aborted) throw fail('timeout');
      if (!(error instanceof ModelFailure)) throw error;
      throw error.reason === 'timeout' ? fail('timeout') : fail('model_error', { message: error.message });
    }
  },
});
