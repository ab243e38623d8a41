import { createMeter } from '@vestra/agent/meter';
import { ModelFailure } from '@vestra/agent/model';
import type { SummaryStep } from '@vestra/agent/step';
import type { RunLease } from '../../platform/jobs/run-lease.ts';
import { ask, judgeLine, type PaidModel } from '../questions/model-questions.ts';
import type { Change } from '../records/change.ts';
import { transcriptLineOf } from '../records/history-store.ts';
import { findMessage } from '../records/messages.ts';
import { callsOfRun } from '../records/run-steps.ts';
import type { TaskRow, TurnRow } from '../records/tables.ts';
import type { TaskOutcome } from '../transitions/end-run.ts';
import type { AcceptedState } from '../turns/ports.ts';
import { RunLeft } from '../turns/runner.ts';
import type { AssembledRun } from './assemble.ts';
import type { Engine } from './ports.ts';
import { createReplyRecorder } from './reply-recorder.ts';
import { type EndedRun, runLoop } from './run-loop.ts';
import { createTaskRecorder, type TaskRecorder } from './task-recorder.ts';

/** Adds the run functions to the engine, so that lower folders can start runs without importing them. */
export function createEngine(parts: Omit<Engine, 'work'>): Engine {
  const engine: Engine = {
    ...parts,
    work: {
      reply: (taken, signal) => runTurn(engine, taken, signal),
      task: (taken, signal) => runTask(engine, taken, signal),
    },
  };
  return engine;
}

/** Runs the reply of a turn from its last recorded step. The loop records how it ends. */
async function runTurn(
  engine: Engine,
  { turn, run, fresh }: { turn: TurnRow; run: RunLease; fresh: AcceptedState },
  signal: AbortSignal,
): Promise<void> {
  await runLoop(
    engine,
    { subject: { turn, task: null }, run, ...fresh },
    (assembled, recording, of) =>
      createReplyRecorder(engine, of, recording, {
        remembers: assembled.memoryMode !== 'none',
        storeSummary: (change, step) => storeSummary(change, assembled, step),
      }),
    signal,
  );
}

/** Later replies reuse a summary that covers whole earlier messages. */
function storeSummary({ conversation }: Change, { ends }: AssembledRun, { text, covers }: SummaryStep): void {
  const covered = ends.findLast(({ exchanges }) => exchanges <= covers);
  if (!covered) return;
  conversation.summary = text;
  conversation.summary_until = covered.messageId;
}

/** Runs a task from its last recorded step. If it has success criteria, a separate call judges it before it is done. */
async function runTask(
  engine: Engine,
  { task, turn, run, fresh }: { task: TaskRow; turn: TurnRow; run: RunLease; fresh: AcceptedState },
  signal: AbortSignal,
): Promise<void> {
  const subject = { turn, task };
  const ended = await runLoop(
    engine,
    { subject, run, ...fresh },
    (assembled, recording, of) =>
      createTaskRecorder(engine, { turn: of, task }, recording, {
        awaitsPlan: assembled.tools.awaitsPlan,
        remembers: assembled.memoryMode !== 'none',
        isJustBegun: fresh.asked !== null,
      }),
    signal,
  );
  const criteria = turn.request.success_criteria;
  if (ended?.end.kind !== 'answered' || criteria === undefined) return;
  const { text, data, isCut } = ended.end;
  try {
    const { outcome, usage } = await judgeTask(engine, { task, turn }, ended, { criteria, answer: text }, signal);
    await ended.recorder.complete({ text, data, isCut, outcome }, usage);
  } catch (error) {
    if (!(error instanceof RunLeft)) throw error;
    await ended.recorder.handBack();
  } finally {
    await ended.runMoney.close();
  }
}

async function judgeTask(
  engine: Engine,
  { task, turn }: { task: TaskRow; turn: TurnRow },
  { assembled, runMoney }: EndedRun<TaskRecorder>,
  { criteria, answer }: { criteria: string; answer: string },
  signal: AbortSignal,
) {
  const asked = await findMessage(engine.db, turn.conversation_id, turn.message_id);
  const calls = await callsOfRun(engine.db, task.id);
  const transcript = [
    { speaker: 'User' as const, text: asked?.text ?? '' },
    ...calls.map(transcriptLineOf),
    { speaker: 'Agent' as const, text: answer },
  ];
  const { model, agentRun } = assembled;
  const meter = createMeter();
  const metered = meter.listenTo(runMoney.metered(engine.models.model(model.id)));
  const payer: PaidModel = {
    ...model,
    async *stream(request) {
      const allowance = await runMoney.mayContinue(request, { msLeft: agentRun.limits.max_minutes * 60_000 });
      if (allowance.kind === 'refused') throw new NoMoney();
      yield* metered.stream(request);
    },
  };
  const line = { kind: 'criterion' as const, text: criteria };
  try {
    const { holds, reason } = await judgeLine((question) => ask({ ...question, payer, signal }), { line, transcript });
    return { outcome: { met: holds === true, reason } satisfies TaskOutcome, usage: meter.used() };
  } catch (error) {
    if (error instanceof NoMoney) return { outcome: notJudged, usage: meter.used() };
    if (!(error instanceof ModelFailure)) throw error;
    return { outcome: { met: false, reason: `It could not be judged. ${error.message}` }, usage: meter.used() };
  }
}

class NoMoney extends Error {}

const notJudged: TaskOutcome = { met: false, reason: 'It was not judged: the money ran out.' };
