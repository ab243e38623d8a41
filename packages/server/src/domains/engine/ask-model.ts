import { setTimeout as sleep } from 'node:timers/promises';
import type { Message } from '@vestra/agent/message';
import { ModelFailure, type ModelRequest, type Usage } from '@vestra/agent/model';
import { fail } from '@vestra/contract/errors';
import type { Models } from '@vestra/models/models';
import type { PricedModel } from '@vestra/models/prices';
import type { Tenant } from '../../caller.ts';
import { transaction } from '../../db/transaction.ts';
import { type ChargeItem, charge, refusalFailure, release } from '../ledger/api.ts';
import type { Engine } from './ports.ts';
import { reserveFor } from './purse.ts';

/** A question to a model outside the agent's own loop: no tools, one answer. */
export type Asked = Pick<ModelRequest, 'system' | 'outputSchema'> & { messages: readonly Message[] };

export async function askModel(
  models: Models,
  modelId: string,
  { system, messages, outputSchema }: Asked,
  signal: AbortSignal,
): Promise<{ text: string; usage: Usage }> {
  let text = '';
  const request = { model: modelId, system, messages, tools: [], ...(outputSchema && { outputSchema }), signal };
  for await (const event of models.model(modelId).stream(request)) {
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

const heldPauseMs = 250;
const heldTries = 40;

/** The same, paid by the org: a call that it cannot pay for is not made, and one that failed costs what it used. */
export async function askPaid(engine: Engine, payer: Payer, asked: Asked, signal: AbortSignal): Promise<string> {
  const { tenant, model } = payer;
  const reservationId = await hold(engine, payer, signal);
  try {
    const { text, usage } = await askModel(engine.models, model.id, asked, signal);
    await pay(engine, payer, usage, reservationId);
    return text;
  } catch (error) {
    const usage = error instanceof ModelFailure ? error.usage : null;
    if (usage) await pay(engine, payer, usage, reservationId);
    else await release(engine.db, tenant, reservationId);
    throw error;
  }
}

async function hold({ db }: Engine, { tenant, model }: Payer, signal: AbortSignal): Promise<string> {
  for (let tries = 0; ; tries++) {
    const held = await reserveFor(db, tenant, null, model.price);
    if (held.allowed) return held.reservationId;
    if (!held.isHeldByRunningCalls || tries === heldTries) throw refusalFailure(held);
    await sleep(heldPauseMs, undefined, { signal });
  }
}

async function pay({ db }: Engine, payer: Payer, usage: Usage, reservationId: string): Promise<void> {
  const { tenant, model, deploymentId, conversationId } = payer;
  const item = (unit: ChargeItem['unit'], quantity: number, unitPriceMicros: number): ChargeItem => ({
    kind: 'background',
    model: model.id,
    quantity,
    unit,
    unitPriceMicros,
    userId: null,
    deploymentId,
    conversationId,
    taskId: null,
    turnId: null,
  });
  const items = [
    item('input_tokens', usage.inputTokens, model.price.input_per_mtok),
    item('output_tokens', usage.outputTokens, model.price.output_per_mtok),
    item('cache_read_tokens', usage.cacheReadTokens, model.price.cache_read_per_mtok),
  ];
  await transaction(db, (tx) => charge(tx, tenant, { items, reservationId }));
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
