/** Decides when a run must stop because of its deployment's limits. The names are those of the manifest. */

export type Limits = {
  readonly max_steps: number;
  readonly max_minutes: number;
  readonly per_task_usd?: number | undefined;
  readonly per_turn_usd?: number | undefined;
};

/** `message` is shown to people. */
export type Stop = {
  reason: 'max_turns' | 'max_budget' | 'credits_exhausted' | 'hook_blocked';
  message: string | null;
};

type Used = {
  /** Number of model calls. The tool calls of an answer belong to its step. */
  steps: number;
  /** Time during which a process worked on the run. Waiting for a person does not count. */
  activeMs: number;
  /** Null if the run is not a task. */
  taskUsd: number | null;
  /** Null if the run is not a turn. */
  turnUsd: number | null;
};

/**
 * Called before the next step, so a limit counts as reached when it is used up. The cost of a finished step is never
 * refunded.
 */
export function limitReached(limits: Limits, used: Used): Stop | null {
  if (used.steps >= limits.max_steps) return tooLong(`The limit of ${counted(limits.max_steps, 'step')} was reached.`);
  if (used.activeMs >= limits.max_minutes * 60_000) return timeReached(limits);
  if (isSpent(limits.per_task_usd, used.taskUsd))
    return tooDear(`The task's limit of ${limits.per_task_usd} US dollars`);
  if (isSpent(limits.per_turn_usd, used.turnUsd))
    return tooDear(`The turn's limit of ${limits.per_turn_usd} US dollars`);
  return null;
}

/** Also applies in the middle of a step: no call may outlast the time limit. */
export const timeReached = ({ max_minutes }: Limits): Stop =>
  tooLong(`The limit of ${counted(max_minutes, 'minute')} was reached.`);

function isSpent(limit: number | undefined, spent: number | null): boolean {
  return limit !== undefined && spent !== null && spent >= limit;
}

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;
const tooLong = (message: string): Stop => ({ reason: 'max_turns', message });
const tooDear = (what: string): Stop => ({ reason: 'max_budget', message: `${what} was reached.` });
