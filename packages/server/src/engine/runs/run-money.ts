import { randomUUID } from 'node:crypto';
import type { Stop } from '@vestra/agent/budget';
import { createMeter } from '@vestra/agent/meter';
import type { Model, ModelRequest, Usage } from '@vestra/agent/model';
import { errorCatalogue } from '@vestra/contract/errors';
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
import type { Statement } from '../../platform/db/pipeline.ts';
import { pipelined } from '../../platform/db/query.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { holdRun, type RunLease } from '../../platform/jobs/run-lease.ts';
import type { Change } from '../records/change.ts';
import type { RunSubject } from '../records/tables.ts';
import type { AcceptedState } from '../turns/ports.ts';
import {
  type CallModel,
  type ChargeSubject,
  chargeAtEnd,
  itemsOfCall,
  maxCostOfRequest,
  meteredUsageOf,
  spendingOf,
} from '../turns/spending.ts';
import type { Engine } from './ports.ts';

/** The money of one run: held before each model call, charged with each step. */
export type RunMoney = {
  /** Id of the model that caused this usage. */
  modelOf: (usage: Usage) => string;
  /** Counts the usage of calls while they run, so that a stopped call is charged. */
  metered: (model: Model) => Model;
  /** The same for a fallback model: raises the hold to its maximum cost and charges its price. */
  meteredInstead: (model: CallModel, inner: Model) => Model;
  mayContinue: (
    request: ModelRequest | null,
    of: { msLeft: number },
  ) => Promise<{ kind: 'allowed'; taskUsd: number | null; turnUsd: number | null } | { kind: 'refused'; stop: Stop }>;
  /** Usage of the running call, to be stored with another write. Null if no money is held. */
  inUse: () => { reservationId: string; used: MeteredUsage | null } | null;
  /** Cost of a model call, and the statement that charges it, to be committed with its step. */
  priced: (usage: Usage) => { micros: Micros; statement: Statement | null };
  /** Called after the statement of `priced` was committed. */
  charged: (micros: Micros) => void;
  /** Charges a model call in the transaction of its step. */
  charge: (change: Change, usage: Usage) => Promise<Micros>;
  /** Sets the price of a tool call. It is charged only if the call succeeds. */
  willCharge: (callId: string, usd: number) => void;
  /** Starts charging computer time for a call. It is charged even if the call fails or is stopped. */
  meterComputer: (callId: string) => Promise<void>;
  /** Sets the computer time of a call. */
  willChargeSeconds: (callId: string, seconds: number) => void;
  /** Charges a tool call. If it did not report its computer time, the elapsed time is charged. */
  chargeCall: (change: Change, callId: string, result: { isError: boolean }) => Promise<void>;
  /** Charges the calls that the end of the run interrupts, in the transaction of that end. */
  chargeAtEnd: (change: Change) => Promise<void>;
  /** Adds cost that another `RunMoney` has charged for this run. */
  addCost: (micros: Micros) => void;
  /** Sets the cost of the run so far, including tools. */
  setRunCost: (micros: Micros) => void;
  /** Cost of the run so far, including tools. */
  spent: () => Micros;
  /** Charges a call that was interrupted without a result, such as by a shutdown, and releases the holds. */
  close: () => Promise<void>;
};

/** Interval for storing the usage of a call that streams no text. Text is stored with the usage so far. */
const noteIntervalMs = 1_000;
/** Most tool calls take no longer. */
const likelySeconds = 60;

export function createRunMoney(
  { db, money, runner }: Pick<Engine, 'db' | 'money' | 'runner'>,
  options: {
    tenant: Tenant;
    subject: RunSubject;
    run: RunLease;
    model: CallModel;
    /** The hold that the accepting process has just created. */
    hold: AcceptedState['hold'];
    /** Aborts the run, also while it waits for money. */
    signal: AbortSignal;
  },
): RunMoney {
  const { tenant, model, subject, run, signal } = options;
  const { turn, task } = subject;
  const maxMicros = turn.request.test?.max_micros;
  const kind = maxMicros !== undefined ? 'improvement' : task ? 'intelligence' : 'orchestrator';
  const meter = createMeter();
  const others = new Map<string, CallModel>();
  const modelOf = (usage: Usage) => others.get(usage.model ?? '') ?? model;
  let fresh = options.hold;
  let reservationId = fresh?.reservationId ?? null;
  let noted: string | null = null;
  let notedAt = Number.NEGATIVE_INFINITY;
  let runMicros: Micros = 0n;
  // A task that starts with its turn has a fresh hold, and nothing was charged to the turn before it.
  let turnMicrosBefore: Micros | null = task && !fresh ? null : 0n;
  const prices = new Map<string, number>();
  const seconds = new Map<string, number>();
  const metered = new Map<string, string>();

  const about: ChargeSubject = {
    userId: turn.user_id,
    deploymentId: turn.deployment_id,
    conversationId: turn.conversation_id,
    taskId: task?.id ?? null,
    turnId: turn.id,
  };

  async function hold(request: ModelRequest, msLeft: number): Promise<SpendingRefusal | null> {
    const amountMicros = maxCostOfRequest(model, request);
    if (fresh) {
      const { micros } = fresh;
      fresh = null;
      // The hold was sized for the message alone. Only long conversations need more.
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

  /** Null if nothing changed since the last note. */
  function usageSinceNote(): MeteredUsage | null {
    const usage = meter.used();
    const used = usage && meteredUsageOf(kind, modelOf(usage), usage);
    const text = used && JSON.stringify(used);
    if (text === noted) return null;
    noted = text;
    notedAt = performance.now();
    return used;
  }

  async function* streamWithNotes(inner: Model, request: ModelRequest, answersAs?: string) {
    const timer = setInterval(() => {
      if (performance.now() - notedAt < noteIntervalMs / 2) return;
      const used = usageSinceNote();
      // The call continues if this fails: only an interrupted call needs the note.
      if (used) void note(used, 0n).catch(() => {});
    }, noteIntervalMs);
    try {
      yield* meter.listenTo(inner, answersAs).stream(request);
    } finally {
      clearInterval(timer);
    }
  }

  async function* streamFallback(other: CallModel, inner: Model, request: ModelRequest) {
    others.set(other.id, other);
    await note(null, maxCostOfRequest(other, request));
    yield* streamWithNotes(inner, { ...request, model: other.id }, other.id);
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

  /** The meter is more recent than the last note. It also knows that a call failed before it used anything. */
  const interruptedCalls = (): InterruptedCalls => {
    const usage = meter.used();
    const used = usage && meteredUsageOf(kind, modelOf(usage), usage);
    return { runId: run.runId, ...(reservationId !== null && { known: { reservationId, used } }) };
  };

  /** Charges only as owner: a process that ended or took over the run has already charged its calls. */
  async function chargeInterrupted(): Promise<void> {
    const own = interruptedCalls();
    const ids = [...(own.known?.used ? [own.known.reservationId] : []), ...metered.values()];
    if (ids.length === 0) return;
    await transaction(db, async (tx) => {
      await holdRun(tx, run);
      for (const id of ids) await chargeInterruptedCalls(tx, tenant, { ...own, reservationId: id }, about);
    });
  }

  /** Cost of the turn: its task and the reply that handed over to it. */
  async function turnMicros(): Promise<Micros> {
    turnMicrosBefore ??= (await costOfTurn(db, turn.conversation_id, turn.id)) - runMicros;
    return turnMicrosBefore + runMicros;
  }

  return {
    modelOf: (usage) => modelOf(usage).id,
    metered: (inner) => ({ stream: (request) => streamWithNotes(inner, request) }),
    meteredInstead: (other, inner) => ({ stream: (request) => streamFallback(other, inner, request) }),
    async mayContinue(request, { msLeft }) {
      // Before the call, so that a turn never costs more than its improvement has left.
      if (request && maxMicros !== undefined) {
        const mostMicros = (await turnMicros()) + maxCostOfRequest(model, request);
        if (mostMicros > BigInt(maxMicros)) return { kind: 'refused', stop: budgetReached };
      }
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
    inUse: () => (reservationId === null ? null : { reservationId, used: usageSinceNote() }),
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
      const chargedMicros = await charge(tx, tenant, { items, ...(held !== undefined && { reservationId: held }) });
      afterwards(() => {
        runMicros += cut.reduce((sum, { costMicros }) => sum + costMicros, chargedMicros);
        metered.delete(callId);
        if (held !== undefined) money.freed(tenant);
      });
    },
    async chargeAtEnd({ tx, afterwards }) {
      await chargeAtEnd(tx, tenant, interruptedCalls(), about);
      afterwards(() => {
        charged(0n);
        metered.clear();
      });
    },
    addCost: (micros) => {
      runMicros += micros;
    },
    setRunCost: (micros) => {
      runMicros = micros;
    },
    spent: () => runMicros,
    async close() {
      await chargeInterrupted().finally(releaseHolds);
    },
  };
}

/** Money that other calls only hold ends no run. A run that waited until its time was up hit the time limit. */
function stopBy(refusal: SpendingRefusal): Stop {
  const { message } = refusalFailure(refusal);
  if (!refusal.isHeldByRunningCalls) return { reason: refusal.stopReason, message };
  return { reason: 'max_turns', message: `The time limit was reached while it waited for money. ${message}` };
}

const budgetReached: Stop = { reason: 'max_budget', message: errorCatalogue.budget_reached.message };

const callItem = (usd: number, about: ChargeSubject): ChargeItem => ({
  kind: 'tools',
  model: null,
  quantity: 1,
  unit: 'calls',
  unitPriceMicros: Number(usdToMicros(usd)),
  ...about,
});
