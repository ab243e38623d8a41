import { randomUUID } from 'node:crypto';
import type { Stop } from '@vestra/agent/budget';
import { createMeter } from '@vestra/agent/meter';
import type { Model, ModelRequest, Usage } from '@vestra/agent/model';
import { type Micros, microsToUsd, usdToMicros } from '@vestra/contract/money';
import {
  type ChargeItem,
  charge,
  chargeInterruptedCalls,
  chargeStatement,
  checkSpending,
  computerTime,
  costOfTurn,
  holdForMeteredUsage,
  type InterruptedCalls,
  type MeteredUsage,
  recordHoldUsage,
  refusalFailure,
  releaseHold,
  type SpendingRefusal,
} from '../../billing/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Statement } from '../../platform/db/group.ts';
import { pipelined } from '../../platform/db/query.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { holdRun, type Run } from '../../platform/jobs/run-owner.ts';
import type { Change } from '../records/change.ts';
import type { Subject } from '../records/subject.ts';
import { type About, type CallModel, itemsOfCall, mostOfRequest, usedBy } from '../turns/call-price.ts';
import type { AcceptedState } from '../turns/ports.ts';
import { chargeAtEnd, spendingOf } from '../turns/spending.ts';
import type { Engine } from './ports.ts';

/** The money of one run: asked before each call, charged with each step. */
export type RunMoney = {
  /** The model that has used this. */
  modelOf: (usage: Usage) => string;
  /** Its calls are counted while they run, so that one which is stopped is paid for. */
  metered: (model: Model) => Model;
  /** The same of another model that answers in its place, at its own price: as much is held for it as it may cost. */
  meteredInstead: (model: CallModel, inner: Model) => Model;
  mayContinue: (
    request: ModelRequest | null,
    of: { msLeft: number },
  ) => Promise<{ kind: 'allowed'; taskUsd: number | null; turnUsd: number | null } | { kind: 'refused'; stop: Stop }>;
  /** What the call that runs has used so far, for whoever writes of it anyway; null where no money is held for it. */
  inUse: () => { reservationId: string; used: MeteredUsage | null } | null;
  /** What a call of the model has cost, and the statement that takes it: to be committed with its step. */
  priced: (usage: Usage) => { micros: Micros; statement: Statement | null };
  /** That has been committed. */
  charged: (micros: Micros) => void;
  /** Takes the cost of a call of the model, in the transaction of its step. */
  charge: (change: Change, usage: Usage) => Promise<Micros>;
  /** A tool that costs something is charged when it has run and did not fail. */
  willCharge: (callId: string, usd: number) => void;
  /** From now on the computer runs for a call: it is paid for whatever comes of the call, also where it is stopped. */
  meterComputer: (callId: string) => Promise<void>;
  /** For how long it has run. */
  willChargeSeconds: (callId: string, seconds: number) => void;
  /** A tool that was cut off and never said for how long the computer ran is charged by the clock. */
  chargeCall: (change: Change, callId: string, result: { isError: boolean }) => Promise<void>;
  /** Charges the calls that the end of the run cuts off, in the transaction of that end. */
  chargeAtEnd: (change: Change) => Promise<void>;
  /** The run has cost this too, charged by another purse. */
  spentBeside: (micros: Micros) => void;
  /** What the run has cost so far, tools included. */
  setRunCost: (micros: Micros) => void;
  /** What the run has cost so far. */
  spent: () => Micros;
  /** Charges a call that was cut off without an end, such as by a process that shuts down, and gives back the rest. */
  close: () => Promise<void>;
};

/** How often it is noted what a call has used that writes nothing anybody sees. */
const noteEveryMs = 1_000;
/** As long as most calls of tools take. */
const likelySeconds = 60;

export function createRunMoney(
  { db, money, runner }: Pick<Engine, 'db' | 'money' | 'runner'>,
  options: {
    tenant: Tenant;
    subject: Subject;
    run: Run;
    model: CallModel;
    /** What the accepting process has reserved a moment ago. */
    hold: AcceptedState['hold'];
    /** Ends the run, also while it waits for money. */
    signal: AbortSignal;
  },
): RunMoney {
  const { tenant, model, subject, run, signal } = options;
  const { turn, task } = subject;
  const kind = task ? 'intelligence' : 'orchestrator';
  const meter = createMeter();
  const others = new Map<string, CallModel>();
  const modelOf = (usage: Usage) => others.get(usage.model ?? '') ?? model;
  let fresh = options.hold;
  let reservationId = fresh?.reservationId ?? null;
  let noted: string | null = null;
  let runMicros: Micros = 0n;
  // Work that begins with its turn, money in hand, comes after nothing that was paid for.
  let turnMicrosBefore: Micros | null = task && !fresh ? null : 0n;
  const prices = new Map<string, number>();
  const seconds = new Map<string, number>();
  const metered = new Map<string, string>();

  const about: About = {
    userId: turn.user_id,
    deploymentId: turn.deployment_id,
    conversationId: turn.conversation_id,
    taskId: task?.id ?? null,
    turnId: turn.id,
  };

  async function hold(request: ModelRequest, msLeft: number): Promise<SpendingRefusal | null> {
    const amountMicros = mostOfRequest(model, request);
    if (fresh) {
      const { micros } = fresh;
      fresh = null;
      // What was held for the message alone is enough for all but long conversations.
      if (amountMicros * 4n > micros * 5n) await note(null, amountMicros);
      return null;
    }
    await releaseHolds();
    const spending = await spendingOf(db, tenant, turn.user_id);
    const wanted = { ...spending, amountMicros, runId: run.runId, waitMs: msLeft };
    const answer = await runner.whileWaiting(run, signal, (either, onWaiting) =>
      money.hold(tenant, { ...wanted, signal: either, onWaiting }),
    );
    if (!answer.allowed) return answer;
    reservationId = answer.reservationId;
    return null;
  }

  async function releaseHolds(): Promise<void> {
    const ids = [...(reservationId === null ? [] : [reservationId]), ...metered.values()];
    reservationId = null;
    noted = null;
    metered.clear();
    for (const id of ids) await releaseHold(db, tenant, id);
    if (ids.length > 0) money.freed(tenant);
  }

  async function note(used: MeteredUsage | null, atLeastMicros: Micros): Promise<void> {
    if (reservationId !== null) await recordHoldUsage(db, tenant, { reservationId, used, atLeastMicros, run });
  }

  /** Null where nothing is new since it was noted last. */
  function newlyUsed(): MeteredUsage | null {
    const usage = meter.used();
    const used = usage && usedBy(kind, modelOf(usage), usage);
    const text = used && JSON.stringify(used);
    if (text === noted) return null;
    noted = text;
    return used;
  }

  async function* noting(inner: Model, request: ModelRequest, answersAs?: string) {
    const timer = setInterval(() => {
      const used = newlyUsed();
      // Where it cannot be noted the call goes on: only a stop would have needed it.
      if (used) void note(used, 0n).catch(() => {});
    }, noteEveryMs);
    try {
      yield* meter.listenTo(inner, answersAs).stream(request);
    } finally {
      clearInterval(timer);
    }
  }

  async function* insteadOf(other: CallModel, inner: Model, request: ModelRequest) {
    others.set(other.id, other);
    await note(null, mostOfRequest(other, request));
    yield* noting(inner, { ...request, model: other.id }, other.id);
  }

  function priced(usage: Usage): { micros: Micros; statement: Statement | null } {
    const items = itemsOfCall(kind, modelOf(usage), usage, about);
    const { total, statement } = chargeStatement(tenant, { items, ...(reservationId !== null && { reservationId }) });
    return { micros: total, statement };
  }

  function charged(micros: Micros): void {
    reservationId = null;
    noted = null;
    meter.reset();
    runMicros += micros;
    money.freed(tenant);
  }

  /** The meter knows more than the last note, also that a call failed before it used anything. */
  const cutCalls = (): InterruptedCalls => {
    const usage = meter.used();
    const used = usage && usedBy(kind, modelOf(usage), usage);
    return { runId: run.runId, ...(reservationId !== null && { known: { reservationId, used } }) };
  };

  /** Only the owner charges: the process that ended or took over the run has charged its calls already. */
  async function chargeCut(): Promise<void> {
    const own = cutCalls();
    const ids = [...(own.known?.used ? [own.known.reservationId] : []), ...metered.values()];
    if (ids.length === 0) return;
    await transaction(db, async (tx) => {
      await holdRun(tx, run);
      for (const id of ids) await chargeInterruptedCalls(tx, tenant, { ...own, reservationId: id }, about);
    });
  }

  /** Work is charged to its turn too, and so is the reply that handed it over. */
  async function turnMicros(): Promise<Micros> {
    turnMicrosBefore ??= (await costOfTurn(db, turn.conversation_id, turn.id)) - runMicros;
    return turnMicrosBefore + runMicros;
  }

  return {
    modelOf: (usage) => modelOf(usage).id,
    metered: (inner) => ({ stream: (request) => noting(inner, request) }),
    meteredInstead: (other, inner) => ({ stream: (request) => insteadOf(other, inner, request) }),
    async mayContinue(request, { msLeft }) {
      const refusal = request
        ? await hold(request, msLeft)
        : await checkSpending(db, tenant, await spendingOf(db, tenant, turn.user_id));
      if (refusal) return { kind: 'refused', stop: stopBy(refusal) };
      return {
        kind: 'allowed',
        taskUsd: task ? microsToUsd(runMicros) : null,
        turnUsd: microsToUsd(await turnMicros()),
      };
    },
    inUse: () => (reservationId === null ? null : { reservationId, used: newlyUsed() }),
    priced,
    charged,
    async charge(change, usage) {
      const { micros, statement } = priced(usage);
      if (statement) await pipelined(change.tx, [statement]);
      change.afterwards(() => charged(micros));
      return micros;
    },
    willCharge: (callId, usd) => prices.set(callId, usd),
    async meterComputer(callId) {
      if (metered.has(callId)) return;
      const id = randomUUID();
      metered.set(callId, id);
      const amountMicros = BigInt(likelySeconds) * 100n;
      await holdForMeteredUsage(db, tenant, {
        id,
        userId: turn.user_id,
        amountMicros,
        used: computerTime.unmeasured,
        run,
      });
    },
    willChargeSeconds: (callId, used) => seconds.set(callId, used),
    async chargeCall({ tx, afterwards }, callId, { isError }) {
      const usd = isError ? undefined : prices.get(callId);
      const used = seconds.get(callId);
      const held = metered.get(callId);
      const items: ChargeItem[] = [
        ...(usd === undefined ? [] : [callItem(usd, about)]),
        ...(used === undefined ? [] : [computerTime.item(used, about)]),
      ];
      if (items.length === 0 && held === undefined) return;
      const cut =
        held !== undefined && used === undefined
          ? await chargeInterruptedCalls(tx, tenant, { runId: run.runId, reservationId: held }, about)
          : [];
      const told = await charge(tx, tenant, { items, ...(held !== undefined && { reservationId: held }) });
      afterwards(() => {
        runMicros += cut.reduce((sum, { costMicros }) => sum + costMicros, told);
        metered.delete(callId);
        if (held !== undefined) money.freed(tenant);
      });
    },
    async chargeAtEnd({ tx, afterwards }) {
      await chargeAtEnd(tx, tenant, cutCalls(), about);
      afterwards(() => {
        charged(0n);
        metered.clear();
      });
    },
    spentBeside: (micros) => {
      runMicros += micros;
    },
    setRunCost: (micros) => {
      runMicros = micros;
    },
    spent: () => runMicros,
    async close() {
      await chargeCut().finally(releaseHolds);
    },
  };
}

/** Money that is only held ends no work: whoever waited for it until its time was up has run into that limit. */
function stopBy(refusal: SpendingRefusal): Stop {
  const { message } = refusalFailure(refusal);
  if (!refusal.isHeldByRunningCalls) return { reason: refusal.stopReason, message };
  return { reason: 'max_turns', message: `The time limit was reached while it waited for money. ${message}` };
}

const callItem = (usd: number, about: About): ChargeItem => ({
  kind: 'tools',
  model: null,
  quantity: 1,
  unit: 'calls',
  unitPriceMicros: Number(usdToMicros(usd)),
  ...about,
});
