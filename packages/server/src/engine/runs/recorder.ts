import type { ModelFailure, Usage } from '@vestra/agent/model';
import type { NewWait, Recorded, RunStore, TakeUpAnew } from '@vestra/agent/ports';
import type { CallResult, ModelStep, NoteStep, Step, SummaryStep } from '@vestra/agent/step';
import type { Micros } from '@vestra/contract/money';
import { outlasting } from '../../platform/db/outlast.ts';
import type { Run } from '../../platform/jobs/run-owner.ts';
import { type Change, changeConversation } from '../records/change.ts';
import { pendingInteractions } from '../records/interactions.ts';
import type { CallRow, InteractionRow, TurnRow } from '../records/tables.ts';
import {
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
} from '../records/trace-store.ts';
import { updateTurn } from '../records/turns.ts';
import { takeNotes, takenNotes } from '../records/work-notes.ts';
import { giveUp } from '../turns/begin-reply.ts';
import { openWait } from '../turns/open-wait.ts';
import type { OpenPage } from '../turns/ports.ts';
import { connectedTo } from '../turns/resolve-connects.ts';
import { resolveInteraction } from '../turns/resolve-interaction.ts';
import type { Engine } from './ports.ts';
import type { RunMoney } from './run-money.ts';

/** Where the loop records a run: the reply of a turn (reply-recorder.ts), or work (task-recorder.ts). */
export type RunRecorder = RunStore & {
  /** Gives the run back for another process to go on with. */
  handBack: () => Promise<void>;
};

/** What recording takes, whatever is recorded. */
export type Recording = {
  run: Run;
  isFirstRun: boolean;
  runMoney: RunMoney;
  /** How many apps the run had asked for and got before its tools were looked up. */
  connected: number;
};

/** What the run is about. */
type About = {
  kind: 'turn' | 'task';
  turn: TurnRow;
  taskId: string | null;
  /** Before this process took it up. */
  activeMs: number;
  /** Tools that cost something and the model alike. */
  spentSoFar: () => Promise<Micros>;
};

/** How far the run has come. */
type RunProgress = {
  stepCount: number;
  stepStartedAt: Date;
  /** What each call that is recorded was given. */
  givenTo: ReadonlyMap<string, unknown>;
  /** The waits that were open when the run was loaded last. */
  pending: ReadonlySet<string>;
};

/** What a reply and work record alike: steps with what they cost, results of calls, and what these wait for. */
export function createRecorder(engine: Engine, about: About, { run, isFirstRun, runMoney, connected }: Recording) {
  const { db } = engine;
  const { turn, kind, taskId } = about;
  const tenant = { orgId: turn.org_id, mode: turn.mode };
  const takenUpAt = performance.now();
  let progress: RunProgress = { stepCount: 0, stepStartedAt: new Date(), givenTo: new Map(), pending: new Set() };

  const change = <T>(work: (change: Change) => Promise<T>) =>
    changeConversation(engine, turn.conversation_id, run, work);

  async function load(): Promise<Recorded | TakeUpAnew> {
    progress = { ...progress, stepStartedAt: new Date() };
    if (isFirstRun && progress.stepCount === 0) return { kind: 'recorded', steps: [], activeMs: 0 };
    const { steps: indexed, nextIndex, pending, connected: connectedByNow } = await loadSteps(db, run.runId);
    if (connectedByNow > connected) return { kind: 'take_up_anew' };
    const givenTo = new Map(indexed.flatMap(({ step }) => givenIn(step)));
    progress = { ...progress, stepCount: nextIndex, givenTo, pending };
    runMoney.setRunCost(await about.spentSoFar());
    const notes = kind === 'task' ? await takenNotes(db, run.runId) : [];
    return { kind: 'recorded', steps: withNotes(indexed, notes), activeMs: about.activeMs };
  }

  /** The place of the step that comes next, and what it has cost. */
  const nextStep = (usage: Usage, costMicros: Micros): { index: number; cost: StepCost } => ({
    index: progress.stepCount,
    cost: { model: runMoney.modelOf(usage), costMicros, startedAt: progress.stepStartedAt },
  });

  function noteStep(step: Step): void {
    const { stepCount, givenTo } = progress;
    progress = {
      ...progress,
      stepCount: stepCount + 1,
      stepStartedAt: new Date(),
      givenTo: new Map([...givenTo, ...givenIn(step)]),
    };
  }

  async function recordModelStep(step: ModelStep, conclude: (change: Change) => Promise<void>): Promise<void> {
    await change(async (changing) => {
      const { index, cost } = nextStep(step.usage, await runMoney.charge(changing, step.usage));
      await insertModelStep(changing.tx, run.runId, index, step, cost);
      await conclude(changing);
    });
    noteStep(step);
  }

  async function recordSummary(step: SummaryStep, conclude: (change: Change) => void): Promise<void> {
    await change(async (changing) => {
      const { index, cost } = nextStep(step.usage, await runMoney.charge(changing, step.usage));
      await insertSummaryStep(changing.tx, run.runId, index, step, cost);
      conclude(changing);
    });
    noteStep(step);
  }

  /** A model call that is no step of the run. `usage` is null if the call failed before it used anything. */
  async function recordAside(
    changing: Change,
    { usage, ...aside }: { kind: 'failed' | 'judge'; text?: string; usage: Usage | null },
  ): Promise<void> {
    const used = usage ?? nothingUsed;
    const { index, cost } = nextStep(used, usage ? await runMoney.charge(changing, usage) : 0n);
    await insertAside(changing.tx, run.runId, index, { ...aside, usage: used }, cost);
    // A judge may be called after the call that failed, and takes the next index.
    changing.afterwards(() => {
      progress = { ...progress, stepCount: index + 1 };
    });
  }

  const recordFailedCall = (changing: Change, { usage, message }: ModelFailure) =>
    recordAside(changing, { kind: 'failed', text: message, usage });

  async function recordResult(
    callId: string,
    result: CallResult,
    conclude: (change: Change, call: CallRow) => Promise<void>,
  ): Promise<void> {
    // What the tool did is done: without its result whoever goes on could only say that the outcome is unknown.
    const recording = () => change((changing) => writeOnce(changing, callId, result, conclude));
    await outlasting(recording, engine.runner.isLeaving);
    progress = { ...progress, stepStartedAt: new Date() };
  }

  async function writeOnce(
    changing: Change,
    callId: string,
    result: CallResult,
    conclude: (change: Change, call: CallRow) => Promise<void>,
  ): Promise<void> {
    const call = await writeResult(changing.tx, callId, result);
    // The attempt before this one was committed, and its answer was lost.
    if (!call) return;
    await runMoney.chargeCall(changing, callId, result);
    await conclude(changing, call);
  }

  /** Opens what calls wait for; true where one of the run's waits has its answer already. */
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
      const given = progress.givenTo.get(wait.callId);
      const opened = await openWait(changing, { turn, taskId, runId: run.runId, given, page }, wait);
      if (opened.type === 'connect' && (await resolveIfConnected(changing, opened))) isAnswered = true;
      await onOpened(wait, given);
    }
    return isAnswered;
  }

  /** The person may have connected the app since the run looked at what is connected. */
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
    /** No step was recorded yet. */
    isAtStart: () => progress.stepCount === 0,
    nextStep,
    recordModelStep,
    recordSummary,
    recordResult,
    recordStart: (callId: string) => outlasting(() => markStarted(db, run, callId), engine.runner.isLeaving),
    recordUnderWay: (callId: string, handle: unknown) =>
      outlasting(() => markUnderWay(db, run, callId, handle), engine.runner.isLeaving),
    takeNotes: async (): Promise<NoteStep[]> =>
      (await takeNotes(db, run, progress.stepCount)).map((text) => ({ kind: 'note', text })),
    recordAside,
    recordFailedCall,
    openWaits,
    /** Nobody works on the run until one of its waits has an answer. */
    async rest(changing: Change): Promise<void> {
      await giveUp(changing, run);
      const waiting = await updateTurn(changing.tx, turn.id, { state: 'waiting' });
      if (waiting.origin === 'batch') await engine.batchItems.waits(changing, waiting);
    },
    activeMs: () => Math.round(about.activeMs + performance.now() - takenUpAt),
    tellTraces: () => engine.traces.ended(tenant, { kind, id: run.runId }),
  };
}

/** Puts each note behind the steps that were recorded when the run took it up: `step_index` is the index of the next one. */
function withNotes(steps: readonly IndexedStep[], notes: Awaited<ReturnType<typeof takenNotes>>): Step[] {
  const noted = notes.map(({ step_index, text }) => ({
    index: Number(step_index),
    step: { kind: 'note' as const, text },
  }));
  return [...noted, ...steps].toSorted((one, other) => one.index - other.index).map(({ step }) => step);
}

const nothingUsed: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

const givenIn = (step: Step): [string, unknown][] =>
  step.kind === 'model' ? step.calls.map(({ call }) => [call.id, call.arguments]) : [];
