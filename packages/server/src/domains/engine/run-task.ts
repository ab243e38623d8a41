import { ModelFailure, type Usage } from '@vestra/agent/model';
import type { Run } from '../../jobs/fence.ts';
import { askModel } from './ask-model.ts';
import type { Outcome } from './end-task.ts';
import { judgeLine } from './judge.ts';
import type { Engine } from './ports.ts';
import { type Ended, runLoop } from './run-loop.ts';
import { findMessage } from './store.ts';
import type { TaskRow, TurnRow } from './tables.ts';
import { callsOfRun } from './trace-store.ts';
import { witnessedCall } from './transcript.ts';

/** Works on a task, from wherever it stands; what has criteria is judged by another call before it counts as done. */
export async function runTask(
  engine: Engine,
  { task, turn, run, isFirstRun }: { task: TaskRow; turn: TurnRow; run: Run; isFirstRun: boolean },
  signal: AbortSignal,
): Promise<void> {
  const subject = { turn, task };
  const ended = await runLoop(
    engine,
    { subject, run, isFirstRun, reservationId: null, asked: null, user: null },
    signal,
  );
  const criteria = turn.request.success_criteria;
  if (ended?.end.kind !== 'answered' || criteria === undefined) return;
  const { text, data, isCut } = ended.end;
  try {
    const { outcome, usage } = await judgeWork(engine, { task, turn }, ended, { criteria, answer: text }, signal);
    await ended.store.complete({ text, data, isCut, outcome }, usage);
  } finally {
    await ended.purse.close();
  }
}

async function judgeWork(
  engine: Engine,
  { task, turn }: { task: TaskRow; turn: TurnRow },
  { assembled, purse }: Ended,
  { criteria, answer }: { criteria: string; answer: string },
  signal: AbortSignal,
) {
  const allowance = await purse.mayContinue();
  if (allowance.kind === 'refused') {
    return { outcome: { met: false, reason: 'It was not judged: the money ran out.' } satisfies Outcome, usage: null };
  }
  const asked = await findMessage(engine.db, turn.conversation_id, turn.message_id);
  const calls = await callsOfRun(engine.db, task.id);
  const transcript = [
    { speaker: 'User' as const, text: asked?.text ?? '' },
    ...calls.map(witnessedCall),
    { speaker: 'Agent' as const, text: answer },
  ];
  const used: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0 };
  const use = (usage: Usage | null) => {
    used.inputTokens += usage?.inputTokens ?? 0;
    used.outputTokens += usage?.outputTokens ?? 0;
    used.cacheReadTokens += usage?.cacheReadTokens ?? 0;
  };
  try {
    const line = { kind: 'criterion' as const, text: criteria };
    const { holds, reason } = await judgeLine(
      async (asked) => {
        const { text, usage } = await askModel(engine.models, assembled.model.id, asked, signal);
        use(usage);
        return text;
      },
      { line, transcript },
    );
    return { outcome: { met: holds === true, reason } satisfies Outcome, usage: used };
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error;
    use(error.usage);
    return { outcome: { met: false, reason: `It could not be judged. ${error.message}` }, usage: used };
  }
}
