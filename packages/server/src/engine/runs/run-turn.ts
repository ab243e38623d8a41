import type { SummaryStep } from '@vestra/agent/step';
import type { Run } from '../../platform/jobs/run-owner.ts';
import type { Change } from '../records/change.ts';
import type { TurnRow } from '../records/tables.ts';
import type { AcceptedState } from '../turns/ports.ts';
import type { Assembled } from './assemble.ts';
import type { Engine } from './ports.ts';
import { createReplyRecorder } from './reply-recorder.ts';
import { runLoop } from './run-loop.ts';

/** Makes the reply of a turn, from wherever it stands. The loop records how it ends. */
export async function runTurn(
  engine: Engine,
  { turn, run, fresh }: { turn: TurnRow; run: Run; fresh: AcceptedState },
  signal: AbortSignal,
): Promise<void> {
  await runLoop(
    engine,
    { subject: { turn, task: null }, run, ...fresh },
    (assembled, recording, of) =>
      createReplyRecorder(engine, of, recording, {
        remembers: assembled.memoryMode !== 'none',
        keepSummary: (change, step) => keepSummary(change, assembled, step),
      }),
    signal,
  );
}

/** A summary of a reply that reaches over whole earlier messages serves the replies after it too. */
function keepSummary({ conversation }: Change, { ends }: Assembled, { text, covers }: SummaryStep): void {
  const covered = ends.findLast(({ exchanges }) => exchanges <= covers);
  if (!covered) return;
  conversation.summary = text;
  conversation.summary_until = covered.messageId;
}
