import type { ModelFailure, Usage } from '@vestra/agent/model';
import type { AssembleAgain, NewWait, Recorded, RunStore } from '@vestra/agent/ports';
import type { CallResult, ModelStep, NoteStep, Step, SummaryStep } from '@vestra/agent/step';
import type { Micros } from '@vestra/contract/money';
import { retryThroughFailover } from '../../platform/db/retry-through-failover.ts';
import { type RunLease, RunTakenOver } from '../../platform/jobs/run-lease.ts';
import { type Change, changeConversation } from '../records/change.ts';
import { pendingInteractions } from '../records/interactions.ts';
import { replacementOfSummary } from '../records/redaction.ts';
import {
  hasStep,
  type IndexedStep,
  insertAside,
  insertModelStep,
  insertSummaryStep,
  loadSteps,
  markNotStarted,
  markStarted,
  markUnderWay,
  type StepCost,
  writeResult,
} from '../records/run-steps.ts';
import type { CallRow, InteractionRow, TurnRow } from '../records/tables.ts';
import { takeNotes, takenNotes } from '../records/tasks.ts';
import { findTurn, updateTurn } from '../records/turns.ts';
import { connectedTo, createInteraction, resolveInteraction } from '../turns/interactions.ts';
import type { OpenPage } from '../turns/ports.ts';
import { giveUpRun } from '../turns/start-run.ts';
import type { Engine } from './ports.ts';
import type { RunMoney } from './run-money.ts';

/** The store that the loop records a run in: a reply (reply-recorder.ts) or a task (task-recorder.ts). */
export type RunRecorder = RunStore & {
  /** Releases the run, so that another process resumes it. */
  handBack: () => Promise<void>;
};

/** Parameters that reply and task recorders share. */
export type Recording = {
  run: RunLease;
  isFirstRun: boolean;
  runMoney: RunMoney;
  /** Number of apps that were connected at the run's request before its tools were assembled. */
  connected: number;
  /** Aborts when the run was stopped, another process took it, or the process ends. */
  signal: AbortSignal;
};

type RunDescription = {
  kind: 'turn' | 'task';
  turn: TurnRow;
  taskId: string | null;
  /** Active time before this process took the run. */
  activeMs: number;
  /** Cost of the model and of paid tools. */
  spentSoFar: () => Promise<Micros>;
};

type RunProgress = {
  stepCount: number;
  stepStartedAt: Date;
  /** Arguments of each recorded call. */
  argumentsOf: ReadonlyMap<string, unknown>;
  /** Ids of the interactions that were pending when the run was last loaded. */
  pending: ReadonlySet<string>;
};

/** Records what replies and tasks share: steps with their cost, results of calls, and interactions. */
export function createRecorder(
  engine: Engine,
  description: RunDescription,
  { run, isFirstRun, runMoney, connected, signal }: Recording,
) {
  const { db } = engine;
  const { turn, kind, taskId } = description;
  const tenant = { orgId: turn.org_id, mode: turn.mode };
  const takenAt = performance.now();
  let progress: RunProgress = { stepCount: 0, stepStartedAt: new Date(), argumentsOf: new Map(), pending: new Set() };

  const exportTrace = () => engine.traces.ended(tenant, { kind, id: run.runId });

  const change = <T>(work: (change: Change) => Promise<T>) =>
    changeConversation(engine, turn.conversation_id, run, work);

  async function load(): Promise<Recorded | AssembleAgain> {
    progress = { ...progress, stepStartedAt: new Date() };
    if (isFirstRun && progress.stepCount === 0) return { kind: 'recorded', steps: [], activeMs: 0 };
    const { steps: indexed, nextIndex, pending, connected: connectedByNow } = await loadSteps(db, run.runId);
    if (connectedByNow > connected) return { kind: 'take_up_anew' };
    const argumentsOf = new Map(indexed.flatMap(({ step }) => argumentsIn(step)));
    progress = { ...progress, stepCount: nextIndex, argumentsOf, pending };
    runMoney.setRunCost(await description.spentSoFar());
    const notes = kind === 'task' ? await takenNotes(db, run.runId) : [];
    return { kind: 'recorded', steps: withNotes(indexed, notes), activeMs: description.activeMs };
  }

  /** Index and cost of the next step. */
  const nextStep = (usage: Usage, costMicros: Micros): { index: number; cost: StepCost } => ({
    index: progress.stepCount,
    cost: { model: runMoney.modelOf(usage), costMicros, startedAt: progress.stepStartedAt },
  });

  function noteStep(step: Step): void {
    const { stepCount, argumentsOf } = progress;
    progress = {
      ...progress,
      stepCount: stepCount + 1,
      stepStartedAt: new Date(),
      argumentsOf: new Map([...argumentsOf, ...argumentsIn(step)]),
    };
  }

  /**
   * Repeats a write until the database is back, so that an answer which was paid for is not requested again. A repeated
   * write that finds the run ended throws `RunTakenOver`: an earlier attempt was committed, or another process owns it.
   */
  async function outlastOutage<T>(write: (isRetry: boolean) => Promise<T>): Promise<T> {
    let isRepeated = false;
    try {
      return await retryThroughFailover(
        (isRetry) => {
          isRepeated = isRetry;
          return write(isRetry);
        },
        () => signal.aborted,
      );
    } catch (error) {
      if (isRepeated && error instanceof RunTakenOver) await announceLostCommit().catch(() => {});
      throw error;
    }
  }

  /** The attempt that was committed could announce nothing, because its confirmation was lost. */
  async function announceLostCommit(): Promise<void> {
    engine.seen.conversations.forget(turn.conversation_id);
    engine.announcer.notify('conversation', turn.conversation_id);
    const now = await findTurn(db, turn.id);
    if (now?.settled_at) exportTrace();
  }

  /** Records a model call with its step. A repeated write skips a step that is already stored. */
  async function recordStep(
    step: ModelStep | SummaryStep,
    write: (changing: Change, index: number, cost: StepCost) => Promise<void>,
  ): Promise<void> {
    const at = progress.stepCount;
    await outlastOutage((isRetry) =>
      change(async (changing) => {
        if (isRetry && (await hasStep(changing.tx, run.runId, at))) {
          changing.afterwards(() => runMoney.charged(runMoney.priced(step.usage).micros));
          return;
        }
        const { index, cost } = nextStep(step.usage, await runMoney.charge(changing, step.usage));
        await write(changing, index, cost);
      }),
    );
    noteStep(step);
  }

  const recordModelStep = (step: ModelStep, conclude: (change: Change) => Promise<void>): Promise<void> =>
    recordStep(step, async (changing, index, cost) => {
      await insertModelStep(changing.tx, run.runId, index, step, cost);
      await conclude(changing);
    });

  const recordSummary = (step: SummaryStep, conclude: (change: Change) => void): Promise<void> =>
    recordStep(step, async (changing, index, cost) => {
      const replacement = await replacementOfSummary(changing.tx, turn);
      await insertSummaryStep(changing.tx, run.runId, index, { ...step, text: replacement ?? step.text }, cost);
      if (replacement === null) conclude(changing);
    });

  /** Records the end of a run that belongs to no step, with a failed model call if there was one. */
  async function recordEnd(failure: ModelFailure | null, conclude: (change: Change) => Promise<void>): Promise<void> {
    const at = progress.stepCount;
    await outlastOutage((isRetry) =>
      change(async (changing) => {
        if (isRetry && failure && (await hasStep(changing.tx, run.runId, at))) return;
        if (failure) await recordAside(changing, { kind: 'failed', text: failure.message, usage: failure.usage });
        await runMoney.chargeAtEnd(changing);
        await conclude(changing);
      }),
    );
  }

  /** A model call that is no step of the run. `usage` is null if the call failed before it used anything. */
  async function recordAside(
    changing: Change,
    { usage, ...aside }: { kind: 'failed' | 'judge'; text?: string; usage: Usage | null },
  ): Promise<void> {
    const used = usage ?? noUsage;
    const { index, cost } = nextStep(used, usage ? await runMoney.charge(changing, usage) : 0n);
    await insertAside(changing.tx, run.runId, index, { ...aside, usage: used }, cost);
    // A judge may be called after the call that failed, and takes the next index.
    changing.afterwards(() => {
      progress = { ...progress, stepCount: index + 1 };
    });
  }

  async function recordResult(
    callId: string,
    result: CallResult,
    conclude: (change: Change, call: CallRow) => Promise<void>,
  ): Promise<void> {
    // The tool has had its effect. Without a recorded result, the next process must report the outcome as unknown.
    const recording = () => change((changing) => writeOnce(changing, callId, result, conclude));
    await outlastOutage(recording);
    progress = { ...progress, stepStartedAt: new Date() };
  }

  async function writeOnce(
    changing: Change,
    callId: string,
    result: CallResult,
    conclude: (change: Change, call: CallRow) => Promise<void>,
  ): Promise<void> {
    const call = await writeResult(changing.tx, callId, result);
    // An earlier attempt was committed, but its confirmation was lost.
    if (!call) return;
    await runMoney.chargeCall(changing, callId, result);
    await conclude(changing, call);
  }

  /** Creates the interactions that calls wait for. True if one of the run's interactions is already answered. */
  async function openWaits(
    changing: Change,
    waits: readonly NewWait[],
    { page, onOpened }: { page: OpenPage | null; onOpened: (wait: NewWait, given: unknown) => Promise<void> },
  ): Promise<boolean> {
    const { tx } = changing;
    const open = await pendingInteractions(tx, [turn.conversation_id]);
    const stillPending = new Set(open.filter(({ run_id }) => run_id === run.runId).map(({ id }) => id));
    let isAnswered = [...progress.pending].some((id) => !stillPending.has(id));
    await markNotStarted(
      tx,
      waits.map(({ callId }) => callId),
    );
    for (const wait of waits) {
      const given = progress.argumentsOf.get(wait.callId);
      const opened = await createInteraction(changing, { turn, taskId, runId: run.runId, given, page }, wait);
      if (opened.type === 'connect' && (await resolveIfConnected(changing, opened))) isAnswered = true;
      await onOpened(wait, given);
    }
    return isAnswered;
  }

  /** The person may have connected the app after the run assembled its tools. */
  async function resolveIfConnected(changing: Change, wait: InteractionRow): Promise<boolean> {
    const app = engine.apps.find(String(wait.details.app));
    if (!app || turn.request.test) return false;
    if (!(await engine.apps.isConnected(changing.tx, tenant, { userId: turn.user_id, app: app.id }))) return false;
    await resolveInteraction(engine, changing, wait, connectedTo(app.name));
    return true;
  }

  return {
    change,
    load,
    isAtStart: () => progress.stepCount === 0,
    nextStep,
    recordModelStep,
    recordSummary,
    recordResult,
    recordStart: (callId: string) => outlastOutage(() => markStarted(db, run, callId)),
    recordUnderWay: (callId: string, handle: unknown) => outlastOutage(() => markUnderWay(db, run, callId, handle)),
    takeNotes: async (): Promise<NoteStep[]> =>
      (await takeNotes(db, run, progress.stepCount)).map((text) => ({ kind: 'note', text })),
    recordAside,
    recordEnd,
    outlastOutage,
    openWaits,
    /** Suspends the run until one of its interactions is answered. */
    async suspend(changing: Change): Promise<void> {
      await giveUpRun(changing, run);
      const waiting = await updateTurn(changing.tx, turn.id, { state: 'waiting' });
      if (waiting.origin === 'batch') await engine.batchItems.waits(changing, waiting);
    },
    activeMs: () => Math.round(description.activeMs + performance.now() - takenAt),
    exportTrace,
  };
}

/** Puts each note before the step that followed it: `step_index` is the index of that step. */
function withNotes(steps: readonly IndexedStep[], notes: Awaited<ReturnType<typeof takenNotes>>): Step[] {
  const noted = notes.map(({ step_index, text }) => ({
    index: Number(step_index),
    step: { kind: 'note' as const, text },
  }));
  return [...noted, ...steps].toSorted((one, other) => one.index - other.index).map(({ step }) => step);
}

const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

const argumentsIn = (step: Step): [string, unknown][] =>
  step.kind === 'model' ? step.calls.map(({ call }) => [call.id, call.arguments]) : [];
