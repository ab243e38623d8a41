import type { ApprovalCategory } from './approval-category.ts';
import { type Limits, limitReached, timeReached } from './budget.ts';
import type { JsonSchema, Message } from './message.ts';
import type { ModelFailure, ModelRequest } from './model.ts';
import type { FinalEnd, Ports, Recorded } from './ports.ts';
import type { Step } from './step.ts';
import type { Tool } from './tool.ts';

/** One run: a reply of the orchestrator or a task of the worker. They differ in what stands here, not in the loop. */
export type Run = {
  model: string;
  /** How much the model can read at once. */
  contextTokens: number;
  maxOutputTokens?: number;
  system: readonly string[];
  /** What was said before and what is asked now: the same each time the run is taken up. */
  history: readonly Message[];
  tools: readonly Tool[];
  approvals: readonly ApprovalCategory[];
  limits: Limits;
  /** Where the answer must be data. The message of an error is for the model. */
  output: { schema: JsonSchema; read: (text: string) => ReadAnswer } | null;
  /** Random, told to the model in the system text; text of others stands inside it. */
  fence: string;
  /** Ends the run at once by throwing its reason: somebody stopped it, or another process owns it. */
  signal: AbortSignal;
};

type ReadAnswer = { kind: 'ok'; data: unknown } | { kind: 'error'; message: string };

export type Progress = {
  run: Run;
  ports: Ports;
  tools: ReadonlyMap<string, Tool>;
  steps: Step[];
  activeMsBefore: number;
  takenUpAt: number;
  /** Aborted when the run has used up its minutes, in the middle of whatever it does. */
  timeUp: AbortController;
  /** Of what the run does: ended from outside, or out of time. */
  signal: AbortSignal;
};

export function takeUp(run: Run, ports: Ports, { steps, activeMs }: Recorded): Progress {
  const timeUp = new AbortController();
  return {
    run,
    ports,
    tools: byName(run.tools),
    steps: [...steps],
    activeMsBefore: activeMs,
    takenUpAt: ports.clock.now(),
    timeUp,
    signal: AbortSignal.any([run.signal, timeUp.signal]),
  };
}

/** Two tools of one name would share a policy that belongs to one of them. */
function byName(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const map = new Map(tools.map((tool) => [tool.definition.name, tool]));
  if (map.size < tools.length) throw new Error('Two tools of this run have the same name.');
  return map;
}

/** `request`: the call of the model that comes next, for which money is held; null before tools. */
export async function stopNow(progress: Progress, request: ModelRequest | null): Promise<FinalEnd | null> {
  const { run, ports } = progress;
  // Before money is asked for: with no time left to wait, money that others hold would be named as the reason.
  const used = overLimit(progress, { taskUsd: null, turnUsd: null });
  if (used !== null) return used;
  const msLeft = Math.max(0, run.limits.max_minutes * 60_000 - activeMs(progress));
  const allowance = await ports.budget.mayContinue(request, { msLeft });
  if (allowance.kind === 'refused') return { kind: 'stopped', ...allowance.stop };
  const { taskUsd, turnUsd } = allowance;
  return overLimit(progress, { taskUsd, turnUsd });
}

function overLimit(progress: Progress, spent: { taskUsd: number | null; turnUsd: number | null }): FinalEnd | null {
  const { run, steps } = progress;
  const stop = limitReached(run.limits, { steps: steps.length, activeMs: activeMs(progress), ...spent });
  return stop === null ? null : { kind: 'stopped', ...stop };
}

export const outOfTime = ({ run }: Progress): FinalEnd => ({ kind: 'stopped', ...timeReached(run.limits) });

/** An alarm and a clock may differ by a moment: where the one has rung, the time is up. */
const activeMs = ({ ports, activeMsBefore, takenUpAt, timeUp }: Progress) =>
  timeUp.signal.aborted ? Number.POSITIVE_INFINITY : activeMsBefore + ports.clock.now() - takenUpAt;

export const timeLeft = ({ run, activeMsBefore }: Progress) =>
  Math.max(0, run.limits.max_minutes * 60_000 - activeMsBefore);

export async function endRun(
  { ports }: Progress,
  end: FinalEnd,
  failure: ModelFailure | null = null,
): Promise<FinalEnd> {
  await ports.store.recordEnd(end, failure);
  return end;
}
