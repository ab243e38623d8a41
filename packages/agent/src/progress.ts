import type { ApprovalCategory } from './approval-category.ts';
import { type Limits, limitReached, timeReached } from './budget.ts';
import type { JsonSchema, Message } from './message.ts';
import type { ModelFailure, ModelRequest, ReasoningLevel } from './model.ts';
import type { FinalEnd, Ports, Recorded } from './ports.ts';
import type { Step } from './step.ts';
import type { Tool } from './tool.ts';

/** One run: a reply of the orchestrator or a task of the worker. They differ only in these fields. */
export type Run = {
  model: string;
  /** The size of the model's context window. */
  contextTokens: number;
  /** The most tokens of a request, if the vendor limits it below the window. */
  inputTokens?: number;
  maxOutputTokens?: number;
  /** Default: as the model's vendor decides. */
  reasoning?: ReasoningLevel;
  system: readonly string[];
  /** The earlier messages and the current request. They are the same each time the run is resumed. */
  history: readonly Message[];
  tools: readonly Tool[];
  approvals: readonly ApprovalCategory[];
  limits: Limits;
  /** Set if the answer must be data. The error message is for the model. */
  output: { schema: JsonSchema; read: (text: string) => ReadAnswer } | null;
  /** A random marker that the system text explains to the model. Text by others is placed inside it. */
  fence: string;
  /** Ends the run at once by throwing its reason: it was stopped, or another process owns it. */
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
  /** Aborted when the run has used up its minutes, even in the middle of a call. */
  timeUp: AbortController;
  /** Aborts everything the run does: it was ended from outside, or is out of time. */
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

/** Two tools with one name would share a policy that belongs to one of them. */
function byName(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const map = new Map(tools.map((tool) => [tool.definition.name, tool]));
  if (map.size < tools.length) throw new Error('Two tools of this run have the same name.');
  return map;
}

/** `request`: the next model call, for which money is held; null before tool calls. */
export async function stopNow(progress: Progress, request: ModelRequest | null): Promise<FinalEnd | null> {
  const { run, ports } = progress;
  // Checked before the budget: with no time left to wait, money that others hold would be reported as the reason.
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

/** Alarm and clock may differ by a moment. If the alarm has rung, the time is up. */
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
