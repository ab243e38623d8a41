import { setTimeout as sleep } from 'node:timers/promises';
import type { Stop } from '@vestra/agent/budget';
import type { Usage } from '@vestra/agent/model';
import { type Micros, microsToUsd, usdToMicros } from '@vestra/contract/money';
import type { Price } from '@vestra/models/prices';
import type { Tenant } from '../../caller.ts';
import type { Database, Transaction } from '../../db/pool.ts';
import { type ChargeItem, charge, costOfTurn, type Refusal, refusalFailure, release, reserve } from '../ledger/api.ts';
import { capsOf, type UserRow } from '../users/api.ts';
import type { Subject } from './run-store.ts';

/** The money of one run: asked before each call, charged with each step. */
export type Purse = {
  /** The model that is paid for. */
  model: string;
  mayContinue: () => Promise<
    { kind: 'allowed'; taskUsd: number | null; turnUsd: number | null } | { kind: 'refused'; stop: Stop }
  >;
  /** Takes the cost of a call of the model, in the transaction of its step. */
  charge: (tx: Transaction, usage: Usage) => Promise<Micros>;
  /** A tool that costs something is charged when it has run and did not fail. */
  willCharge: (callId: string, usd: number) => void;
  /** Seconds for which the computer ran are charged whatever came of the call. */
  willChargeSeconds: (callId: string, seconds: number) => void;
  chargeCall: (tx: Transaction, callId: string, result: { isError: boolean }) => Promise<void>;
  /** What the run has cost so far, tools included. */
  setRunCost: (micros: Micros) => void;
  /** What the run has cost so far. */
  spent: () => Micros;
  /** Gives back what is held. */
  close: () => Promise<void>;
};

/** About what a call costs: what running calls hold keeps the next ones from spending the same money. */
const likelyTokens = { input: 8_000, output: 1_000 };
const heldPauseMs = 250;
const heldTries = 40;

export function createPurse(options: {
  db: Database;
  tenant: Tenant;
  subject: Subject;
  model: { id: string; price: Price };
  /** What the accepting process has reserved a moment ago. */
  reservationId: string | null;
  /** Ends the run, also while it waits for money. */
  signal: AbortSignal;
}): Purse {
  const { db, tenant, model, subject } = options;
  const { turn, task } = subject;
  let reservationId = options.reservationId;
  let isFresh = reservationId !== null;
  let runMicros: Micros = 0n;
  let turnMicrosBefore: Micros | null = task ? null : 0n;
  const prices = new Map<string, number>();
  const seconds = new Map<string, number>();

  const about = {
    userId: turn.user_id,
    deploymentId: turn.deployment_id,
    conversationId: turn.conversation_id,
    taskId: task?.id ?? null,
    turnId: turn.id,
  };

  async function hold(): Promise<Refusal | null> {
    for (let tries = 0; ; tries++) {
      await letGo();
      const answer = await reserveFor(db, tenant, turn.user_id, model.price);
      if (answer.allowed) {
        reservationId = answer.reservationId;
        return null;
      }
      if (!answer.isHeldByRunningCalls || tries === heldTries) return answer;
      await sleep(heldPauseMs);
      options.signal.throwIfAborted();
    }
  }

  async function letGo(): Promise<void> {
    if (reservationId === null) return;
    const id = reservationId;
    reservationId = null;
    await release(db, tenant, id);
  }

  /** Work is charged to its turn too, and so is the reply that handed it over. */
  async function turnMicros(): Promise<Micros> {
    turnMicrosBefore ??= (await costOfTurn(db, turn.conversation_id, turn.id)) - runMicros;
    return turnMicrosBefore + runMicros;
  }

  return {
    model: model.id,
    async mayContinue() {
      const refusal = isFresh ? null : await hold();
      isFresh = false;
      if (refusal) {
        return { kind: 'refused', stop: { reason: refusal.stopReason, message: refusalFailure(refusal).message } };
      }
      return {
        kind: 'allowed',
        taskUsd: task ? microsToUsd(runMicros) : null,
        turnUsd: microsToUsd(await turnMicros()),
      };
    },
    async charge(tx, usage) {
      const item = (unit: ChargeItem['unit'], quantity: number, perMillion: number): ChargeItem => ({
        kind: task ? 'intelligence' : 'orchestrator',
        model: model.id,
        quantity,
        unit,
        // A dollar per million tokens is a micro-dollar per token.
        unitPriceMicros: perMillion,
        ...about,
      });
      const items = [
        item('input_tokens', usage.inputTokens, model.price.input_per_mtok),
        item('output_tokens', usage.outputTokens, model.price.output_per_mtok),
        item('cache_read_tokens', usage.cacheReadTokens, model.price.cache_read_per_mtok),
      ];
      const micros = await charge(tx, tenant, { items, ...(reservationId !== null && { reservationId }) });
      reservationId = null;
      runMicros += micros;
      return micros;
    },
    willCharge: (callId, usd) => prices.set(callId, usd),
    willChargeSeconds: (callId, used) => used > 0 && seconds.set(callId, used),
    async chargeCall(tx, callId, { isError }) {
      const usd = isError ? undefined : prices.get(callId);
      const used = seconds.get(callId);
      const items: ChargeItem[] = [
        ...(usd === undefined ? [] : [callItem(usd, about)]),
        ...(used === undefined ? [] : [computerItem(used, about)]),
      ];
      if (items.length > 0) runMicros += await charge(tx, tenant, { items });
    },
    setRunCost: (micros) => {
      runMicros = micros;
    },
    spent: () => runMicros,
    close: letGo,
  };
}

type About = Pick<ChargeItem, 'userId' | 'deploymentId' | 'conversationId' | 'taskId' | 'turnId'>;

const callItem = (usd: number, about: About): ChargeItem => ({
  kind: 'tools',
  model: null,
  quantity: 1,
  unit: 'calls',
  unitPriceMicros: Number(usdToMicros(usd)),
  ...about,
});

/** A ten-thousandth of a dollar a second. */
const computerMicrosPerSecond = 100;

export const computerItem = (seconds: number, about: About): ChargeItem => ({
  kind: 'compute',
  model: null,
  quantity: seconds,
  unit: 'seconds',
  unitPriceMicros: computerMicrosPerSecond,
  ...about,
});

/** May a call start, and if so, what is held for it. */
export async function reserveFor(
  db: Database | Transaction,
  tenant: Tenant,
  userId: string | null,
  price: Price,
  known: UserRow | null = null,
) {
  const userCaps = known
    ? { daily: known.daily_cap_micros, monthly: known.monthly_cap_micros }
    : userId === null
      ? null
      : ((await capsOf(db, tenant, [userId])).get(userId) ?? null);
  const amountMicros = BigInt(
    Math.ceil(likelyTokens.input * price.input_per_mtok + likelyTokens.output * price.output_per_mtok),
  );
  return reserve(db, tenant, { userId, userCaps, amountMicros });
}

/** Refuses what could not be paid for, and holds nothing. */
export async function assertPayable(tx: Transaction, tenant: Tenant, price: Price): Promise<void> {
  const held = await reserveFor(tx, tenant, null, price);
  if (held.allowed) await release(tx, tenant, held.reservationId);
  else if (!held.isHeldByRunningCalls) throw refusalFailure(held);
}
