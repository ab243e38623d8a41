import type { ToolCall } from '@vestra/agent/message';
import type { Usage } from '@vestra/agent/model';
import type { FinalEnd, NewWait, RunStore } from '@vestra/agent/ports';
import type { ModelStep } from '@vestra/agent/step';
import { mayHaveMarks } from '@vestra/contract/source-marks';
import { costOf } from '../../billing/index.ts';
import { storableJson, storableText } from '../../platform/db/sql.ts';
import type { Change } from '../records/change.ts';
import { hasApprovedPlan } from '../records/interactions.ts';
import { sendBackAnswer } from '../records/run-steps.ts';
import type { TaskRow, TurnRow } from '../records/tables.ts';
import { findTask, updateTask } from '../records/tasks.ts';
import { presentTraceStep } from '../records/trace.ts';
import { startsTask } from '../records/turns.ts';
import { writePlan } from '../tools/task-tools.ts';
import type { AnsweredEnd, StreamedReply, TaskOutcome } from '../transitions/end-run.ts';
import { type AnsweredRun, endRun, endRunIfUnchanged, runEndOf } from '../turns/end-run.ts';
import type { OpenPage } from '../turns/ports.ts';
import { giveUpRun, sendTaskJob } from '../turns/start-run.ts';
import type { Engine } from './ports.ts';
import { createRecorder, type Recording, type RunRecorder } from './recorder.ts';

export type TaskRecorder = RunRecorder & {
  /** Ends a task after its answer was judged. The loop does not end a task that has success criteria. */
  complete: (answer: JudgedAnswer, usage: Usage | null) => Promise<void>;
  /**
   * Records that the criteria are not met yet, with the cost of the judge, and sends the answer back in the same
   * transaction. Returns the task to continue with, or null if the answer cannot be sent back and nothing was written.
   */
  sendBack: (answer: JudgedAnswer, usage: Usage | null, notice: string) => Promise<TaskRow | null>;
};

type JudgedAnswer = { text: string; data: unknown; isCut: boolean; outcome: TaskOutcome };

type Options = {
  /** The run has only the tools that need no approved plan. */
  awaitsPlan: boolean;
  /** Whether memories may be extracted from the conversation. */
  remembers: boolean;
  /** Whether the agent reads notebooks, whose passages it may cite. */
  hasNotebooks: boolean;
  /** This process has just started the task, so nobody can have sent it a note yet. */
  isJustBegun: boolean;
};

/** Records a task, and publishes each call when it is done. */
export function createTaskRecorder(
  engine: Engine,
  { turn, task: given }: { turn: TurnRow; task: TaskRow },
  recording: Recording,
  { awaitsPlan, remembers, hasNotebooks, isJustBegun }: Options,
): TaskRecorder {
  const { db } = engine;
  const { run, runMoney, isFirstRun } = recording;
  const recorder = createRecorder(
    engine,
    {
      kind: 'task',
      turn,
      taskId: given.id,
      activeMs: given.active_ms,
      spentSoFar: async () => (await costOf(db, { taskId: given.id })).totalMicros,
    },
    recording,
  );
  const isJudged = turn.request.success_criteria !== undefined;
  let task = given;

  async function load(): ReturnType<RunStore['load']> {
    const loaded = await recorder.load();
    if (loaded.kind === 'take_up_anew' || !awaitsPlan || loaded.steps.length === 0) return loaded;
    return (await hasApprovedPlan(db, task.id)) ? { kind: 'take_up_anew' } : loaded;
  }

  function publishStep(changing: Change, call: Parameters<typeof presentTraceStep>[0]): void {
    changing.log({ type: 'task.step', taskId: task.id, turnId: turn.id, data: { step: presentTraceStep(call) } });
  }

  function publishRefusal(changing: Change, call: ToolCall, output: string): void {
    const at = new Date();
    publishStep(changing, { ...call, output, is_error: true, started_at: at, finished_at: at, created_at: at });
  }

  /** Ends the task in the transaction of its last step. If `end` is null, the task continues. */
  async function conclude(changing: Change, end: FinalEnd | null): Promise<void> {
    if (end === null) return noteActivity(changing);
    if (end.kind === 'answered' && isJudged) return;
    await giveUpRun(changing, run);
    task = { ...task, active_ms: recorder.activeMs() };
    if (end.kind !== 'handed_off')
      await endRun(engine, changing, { turn, task }, lastResult(task, end) ?? runEndOf(end, unstreamedReply(end)));
    changing.afterwards(recorder.exportTrace);
  }

  /** Fast path for a task that ends with its first model call: its cost is known without reading the ledger. */
  async function endWithFirstStep(step: ModelStep, end: Extract<FinalEnd, { kind: 'answered' }>): Promise<boolean> {
    const isFirstStep = isFirstRun && startsTask(turn.request) && recorder.isAtStart();
    if (!isFirstStep || step.calls.length > 0 || step.notice !== null || isJudged || runMoney.spent() > 0n)
      return false;
    const { micros, statement } = runMoney.priced(step.usage);
    const answered: AnsweredRun = {
      subject: { turn, task: { ...task, active_ms: recorder.activeMs() } },
      end: { ...end, said: unstreamedReply(end) },
      last: { run, step, ...recorder.nextStep(step.usage, micros) },
      charge: statement,
      turnMicros: micros,
      remembers,
      mayCite: hasNotebooks && mayHaveMarks(step.text),
    };
    const isSettled = await recorder.outlastOutage(() => endRunIfUnchanged(engine, answered));
    if (!isSettled) return false;
    runMoney.charged(micros);
    recorder.exportTrace();
    return true;
  }

  async function recordModelStep(step: ModelStep, end: FinalEnd | null): Promise<void> {
    if (end?.kind === 'answered' && (await endWithFirstStep(step, end))) return;
    await recorder.recordModelStep(step, async (changing) => {
      for (const { call, result } of step.calls) if (result !== null) publishRefusal(changing, call, result.output);
      await conclude(changing, end);
    });
  }

  async function noteActivity({ tx }: Change): Promise<void> {
    task = await updateTask(tx, task, { active_ms: recorder.activeMs() });
  }

  async function pageFor(waits: readonly NewWait[]): Promise<OpenPage | null> {
    const handOffs = waits.filter(({ draft }) => draft.type === 'handoff');
    if (handOffs.length === 0) return null;
    const isSecret = handOffs.some(({ draft }) => draft.details.asks_for_secret === true);
    return engine.taskBrowsers.handOver(task, { isSecret });
  }

  return {
    load,
    recordModelStep,
    takeNotes: async () => (isJustBegun && recorder.isAtStart() ? [] : recorder.takeNotes()),
    recordSummary: (step) => recorder.recordSummary(step, () => {}),
    recordStart: recorder.recordStart,
    recordUnderWay: recorder.recordUnderWay,
    recordResult: (callId, result, end) =>
      recorder.recordResult(callId, result, async (changing, call) => {
        publishStep(changing, call);
        await conclude(changing, end);
      }),
    recordEnd: (end, failure) => recorder.recordEnd(failure, (changing) => conclude(changing, end)),
    /** The text of a task is not streamed. */
    appendText: async () => {},
    async wait(waits) {
      // Read before the transaction: a page that hangs must not keep the conversation locked.
      const page = await pageFor(waits);
      return recorder.change(async (changing) => {
        const isAnswered = await recorder.openWaits(changing, waits, {
          page,
          onOpened: async ({ draft }, plan) => {
            if (draft.kind === 'exit_plan') await writePlan(changing, task, plan);
          },
        });
        await noteActivity(changing);
        if (isAnswered) return 'answered';
        await recorder.suspend(changing);
        task = await updateTask(changing.tx, task, { status: 'waiting' });
        return 'waiting';
      });
    },
    complete: (answer, usage) =>
      recorder.outlastOutage(() =>
        recorder.change(async (changing) => {
          if (usage) await recorder.recordAside(changing, { kind: 'judge', usage });
          await giveUpRun(changing, run);
          const end: AnsweredEnd = { kind: 'answered', ...answer, said: unstreamedReply(answer) };
          await endRun(engine, changing, { turn, task }, end);
          changing.afterwards(recorder.exportTrace);
        }),
      ),
    async sendBack({ text, data, isCut, outcome }, usage, notice) {
      const write = (isRetry: boolean) => async (changing: Change) => {
        const stored = isRetry
          ? await findTask(changing.tx, { orgId: task.org_id, mode: task.mode }, task.id)
          : undefined;
        if (stored?.outcome_rounds === outcome.rounds) {
          task = stored;
          return true;
        }
        if (!(await sendBackAnswer(changing.tx, run.runId, notice))) return false;
        if (usage) await recorder.recordAside(changing, { kind: 'judge', usage });
        task = await updateTask(changing.tx, task, {
          active_ms: recorder.activeMs(),
          result_text: storableText(text),
          result_data: storableJson(data) ?? null,
          result_is_cut: isCut,
          outcome_met: outcome.met,
          outcome_reason: storableText(outcome.reason),
          outcome_rounds: outcome.rounds,
        });
        return true;
      };
      const isSent = await recorder.outlastOutage((isRetry) => recorder.change(write(isRetry)));
      return isSent ? task : null;
    },
    handBack: () =>
      recorder.change(async (changing) => {
        await giveUpRun(changing, run);
        await noteActivity(changing);
        sendTaskJob(changing, task);
      }),
  };
}

/** If a limit or a model failure ends a further round, the result that was sent back is the result of the task. */
function lastResult(task: TaskRow, end: FinalEnd): AnsweredEnd | null {
  const { outcome_rounds: rounds, result_text: text, result_data: data, result_is_cut: isCut } = task;
  if (rounds === null || text === null || (end.kind !== 'stopped' && end.kind !== 'failed')) return null;
  const reason = `${task.outcome_reason ?? ''} There was no further round: ${end.message ?? 'a limit was reached.'}`;
  return { kind: 'answered', said: unstreamedReply({ text }), data, isCut, outcome: { met: false, reason, rounds } };
}

const unstreamedReply = (end: FinalEnd | { text: string }): StreamedReply => {
  const whole = 'text' in end ? end.text : '';
  return { whole, unstreamed: whole };
};
