import type { Message } from '@vestra/agent/message';
import { createMeter } from '@vestra/agent/meter';
import { type Model, ModelFailure, type ModelRequest, type Usage } from '@vestra/agent/model';
import { fail } from '@vestra/contract/errors';
import type { Micros } from '@vestra/contract/money';
import type { PricedModel } from '@vestra/models/prices';
import type { Tenant } from '../../../caller.ts';
import { transaction } from '../../../db/transaction.ts';
import { charge, refusalFailure, type UserCaps } from '../../ledger/api.ts';
import { type About, type CallModel, itemsOfCall, mostOfRequest } from '../turns/call-price.ts';
import type { Engine } from '../turns/ports.ts';

/** A question to a model outside the agent's own loop: no tools, one answer. */
export type Asked = Pick<ModelRequest, 'system' | 'outputSchema'> & { messages: readonly Message[] };

export const requestOf = (
  model: CallModel,
  { system, messages, outputSchema }: Asked,
  signal: AbortSignal,
): ModelRequest => ({
  model: model.id,
  system,
  messages,
  tools: [],
  ...(outputSchema && { outputSchema }),
  maxOutputTokens: model.max_output_tokens,
  signal,
});

export async function askModel(model: Model, request: ModelRequest): Promise<{ text: string; usage: Usage }> {
  let text = '';
  for await (const event of model.stream(request)) {
    if (event.type === 'text') text += event.text;
    if (event.type === 'end') return { text, usage: event.usage };
  }
  throw new ModelFailure('invalid_answer', 'The model ended its answer without saying so.');
}

type Payer = {
  tenant: Tenant;
  model: PricedModel;
  deploymentId: string | null;
  conversationId: string | null;
};

const longestWaitMs = 600_000;

/** The same, paid by the org: a call that it cannot pay for is not made, and one that came to no end costs what it used. */
export async function askPaid(engine: Engine, payer: Payer, asked: Asked, signal: AbortSignal): Promise<string> {
  const { tenant, model, deploymentId, conversationId } = payer;
  const request = requestOf(model, asked, signal);
  const about = { userId: null, deploymentId, conversationId, taskId: null, turnId: null };
  return payForCalls(
    engine,
    { tenant, model, about, userCaps: null, amountMicros: mostOfRequest(model, request) },
    {
      signal,
      waitMs: longestWaitMs,
      work: async (listened) => (await askModel(listened, request)).text,
    },
  );
}

/** Holds money for work that calls a model in the background, and charges what the calls have used, whatever came of it. */
export async function payForCalls<T>(
  { db, money, models }: Pick<Engine, 'db' | 'money' | 'models'>,
  of: { tenant: Tenant; model: CallModel; about: About; userCaps: UserCaps | null; amountMicros: Micros },
  { signal, waitMs, work }: { signal: AbortSignal; waitMs: number; work: (model: Model) => Promise<T> },
): Promise<T> {
  const { tenant, model, about, userCaps, amountMicros } = of;
  const held = await money.hold(tenant, { userId: about.userId, userCaps, amountMicros, signal, waitMs });
  if (!held.allowed) throw refusalFailure(held);
  const meter = createMeter();
  try {
    return await work(meter.listenTo(models.model(model.id)));
  } finally {
    const usage = meter.used();
    const items = usage ? itemsOfCall('background', model, usage, about) : [];
    await transaction(db, (tx) => charge(tx, tenant, { items, reservationId: held.reservationId }));
    money.freed(tenant);
  }
}

const patienceMs = 120_000;

/** The same for a caller who waits: what goes wrong with the model is an error of the API. */
export async function askForCaller(engine: Engine, payer: Payer, asked: Asked, signal: AbortSignal): Promise<string> {
  const patience = AbortSignal.timeout(patienceMs);
  try {
    return await askPaid(engine, payer, asked, AbortSignal.any([signal, patience]));
  } catch (error) {
    if (patience.aborted) throw fail('timeout');
    if (!(error instanceof ModelFailure)) throw error;
    throw error.reason === 'timeout' ? fail('timeout') : fail('model_error', { message: error.message });
  }
}
