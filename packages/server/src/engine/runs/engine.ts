import { createMeter } from '@vestra/agent/meter';
import { ModelFailure, type Usage } from '@vestra/agent/model';
import type { SummaryStep } from '@vestra/agent/step';
import { verdictNotice } from '@vestra/agent/verdict';
import { retryThroughFailover } from '../../platform/db/retry-through-failover.ts';
import { isDatabaseUnreachable } from '../../platform/db/unreachable.ts';
import { isHeld, type RunLease } from '../../platform/jobs/run-lease.ts';
import { ask, judgeLine, type PaidModel, undecided } from '../questions/model-questions.ts';
import type { Change } from '../records/change.ts';
import { transcriptLineOf } from '../records/history-store.ts';
import { findMessage } from '../records/messages.ts';
import { callsOfRun } from '../records/run-steps.ts';
import type { TaskRow, TurnRow } from '../records/tables.ts';
import { findTask } from '../records/tasks.ts';
import { findTurn } from '../records/turns.ts';
import { type AcceptedState, resumedState } from '../turns/ports.ts';
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
      reply: (taken, signal) =>
        resumeAfterOutages(engine, taken, signal, {
          run: (current) => runTurn(engine, current, signal),
          async read() {
            const turn = await findTurn(engine.db, taken.turn.id);
            return turn?.state === 'replying' ? { ...taken, turn, fresh: resumedState } : null;
          },
        }),
      task: (taken, signal) =>
        resumeAfterOutages(engine, taken, signal, {
          run: (current) => runTask(engine, current, signal),
          async read() {
            const tenant = { orgId: taken.task.org_id, mode: taken.task.mode };
            const task = await findTask(engine.db, tenant, taken.task.id);
            const turn = await findTurn(engine.db, taken.turn.id);
            return task?.status === 'working' && turn ? { ...taken, task, turn, fresh: resumedState } : null;
          },
        }),
    },
  };
  return engine;
}

/**
 * Resumes a run that an outage interrupted between two model calls, as soon as the database is back. Without it, the run
 * would wait until its own lease has expired.
 */
async function resumeAfterOutages<Taken extends { run: RunLease }>(
  { db, runner, log }: Engine,
  taken: Taken,
  signal: AbortSignal,
  { run, read }: { run: (taken: Taken) => Promise<void>; read: () => Promise<Taken | null> },
): Promise<void> {
  let current: Taken | null = taken;
  while (current) {
    try {
      return await run(current);
    } catch (error) {
      if (!isDatabaseUnreachable(error) || signal.aborted || runner.isLeaving()) throw error;
      log.warn(
        { err: error, run_id: taken.run.runId },
        'an outage interrupted a run; it resumes when the database is back',
      );
    }
    const readAgain = async () => ((await isHeld(db, taken.run)) ? read() : null);
    current = await retryThroughFailover(readAgain, () => signal.aborted || runner.isLeaving());
  }
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
        hasNotebooks: assembled.hasNotebooks,
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

/** Results that are judged: the first one, and those of two more rounds if the criteria are not met. */
const maxRounds = 3;

/** Runs a task from its last recorded step. If it has success criteria, a separate call judges it before it is done. */
async function runTask(engine: Engine, taken: TakenTask, signal: AbortSignal): Promise<void> {
  let next: TakenTask | null = taken;
  while (next) {
    const task = await runRound(engine, next, signal);
    next = task && { ...next, task, fresh: resumedState };
  }
}

type TakenTask = { task: TaskRow; turn: TurnRow; run: RunLease; fresh: AcceptedState };

/** Returns the task if the judge has sent its result back, or null. Every round starts as a resumed run does. */
async function runRound(
  engine: Engine,
  { task, turn, run, fresh }: TakenTask,
  signal: AbortSignal,
): Promise<TaskRow | null> {
  const subject = { turn, task };
  const ended = await runLoop(
    engine,
    { subject, run, ...fresh },
    (assembled, recording, of) =>
      createTaskRecorder(engine, { turn: of, task }, recording, {
        awaitsPlan: assembled.tools.awaitsPlan,
        remembers: assembled.memoryMode !== 'none',
        hasNotebooks: assembled.hasNotebooks,
        isJustBegun: fresh.asked !== null,
      }),
    signal,
  );
  const criteria = turn.request.success_criteria;
  if (ended?.end.kind !== 'answered' || criteria === undefined) return null;
  const { text, data, isCut } = ended.end;
  const rounds = (task.outcome_rounds ?? 0) + 1;
  try {
    const judged = await judgeTask(engine, { task, turn }, ended, { criteria, answer: text }, signal);
    const { met, reason, usage } = judged;
    const answer = { text, data, isCut, outcome: { met, reason, rounds } };
    const mayContinue = judged.isWorthARound && rounds < maxRounds;
    const notice = verdictNotice(reason, task.fence);
    const sentBack = mayContinue ? await ended.recorder.sendBack(answer, usage, notice) : null;
    if (!sentBack) await ended.recorder.complete(answer, usage);
    return sentBack;
  } catch (error) {
    if (!(error instanceof RunLeft)) throw error;
    await ended.recorder.handBack();
    return null;
  } finally {
    await ended.runMoney.close();
  }
}

/** `isWorthARound`: the judge found something that the agent can change. */
type Verdict = { met: boolean; reason: string; usage: Usage | null; isWorthARound: boolean };

async function judgeTask(
  engine: Engine,
  { task, turn }: { task: TaskRow; turn: TurnRow },
  { assembled, runMoney }: EndedRun<TaskRecorder>,
  { criteria, answer }: { criteria: string; answer: string },
  signal: AbortSignal,
): Promise<Verdict> {
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
    const judgement = await judgeLine((question) => ask({ ...question, payer, signal }), { line, transcript });
    const { holds, reason } = judgement;
    return { met: holds === true, reason, usage: meter.used(), isWorthARound: !holds && judgement !== undecided };
  } catch (error) {
    const isBroke = error instanceof NoMoney;
    if (!isBroke && !(error instanceof ModelFailure)) throw error;
    const reason = isBroke ? 'It was not judged: the money ran out.' : `It could not be judged. ${error.message}`;
    return { met: false, reason, usage: meter.used(), isWorthARound: false };
  }
}

class NoMoney extends Error {}
