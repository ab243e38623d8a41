/** When a run must stop by the limits of its deployment. Names of limits are those of the manifest. */

export type Limits = {
  readonly max_steps: number;
  readonly max_minutes: number;
  readonly per_task_usd?: number | undefined;
  readonly per_turn_usd?: number | undefined;
};

/** `message` is read by people. */
export type Stop = {
  reason: 'max_turns' | 'max_budget' | 'credits_exhausted' | 'hook_blocked';
  message: string | null;
};

type Used = {
  /** Calls of the model; the tools that an answer asks for belong to its step. */
  steps: number;
  /** Time in which a process worked on the run: a wait for a person uses none. */
  activeMs: number;
  /** Null where the run is no task. */
  taskUsd: number | null;
  /** Null where the run is no turn. */
  turnUsd: number | null;
};

/** Asked before the next step, so a limit is reached when it is used up; money that a step took is never given back. */
export function limitReached(limits: Limits, used: Used): Stop | null {
  if (used.steps >= limits.max_steps) return tooLong(`The limit of ${counted(limits.max_steps, 'step')} was reached.`);
  if (used.activeMs >= limits.max_minutes * 60_000) return timeReached(limits);
  if (isSpent(limits.per_task_usd, used.taskUsd))
    return tooDear(`The task's limit of ${limits.per_task_usd} US dollars`);
  if (isSpent(limits.per_turn_usd, used.turnUsd))
    return tooDear(`The turn's limit of ${limits.per_turn_usd} US dollars`);
  return null;
}

/** Also in the middle of a step: no call is waited for beyond it. */
export const timeReached = ({ max_minutes }: Limits): Stop =>
  tooLong(`The limit of ${counted(max_minutes, 'minute')} was reached.`);

function isSpent(limit: number | undefined, spent: number | null): boolean {
  return limit !== undefined && spent !== null && spent >= limit;
}

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;
const tooLong = (message: string): Stop => ({ reason: 'max_turns', message });
const tooDear = (what: string): Stop => ({ reason: 'max_budget', message: `${what} was reached.` });
