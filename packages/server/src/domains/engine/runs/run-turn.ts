import type { Run } from '../../../jobs/fence.ts';
import type { TurnRow } from '../records/tables.ts';
import type { Engine, Fresh } from '../turns/ports.ts';
import { runLoop } from './run-loop.ts';

/** Makes the reply of a turn, from wherever it stands. The loop records how it ends. */
export async function runTurn(
  engine: Engine,
  { turn, run, fresh }: { turn: TurnRow; run: Run; fresh: Fresh },
  signal: AbortSignal,
): Promise<void> {
  await runLoop(engine, { subject: { turn, task: null }, run, ...fresh }, signal);
}
