/** What came of one attempt. */
export type Outcome = {
  isSuccess: boolean;
  /** The receiver says that it is gone for good. */
  isGone: boolean;
  statusCode: number | null;
  /** Shown to the org: never a secret, nor anything of the answer's body. */
  error: string | null;
};

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** From the end of one attempt to the next; the first is made at once. */
const pauses = [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour];

/** Only ever later, so that a receiver that was promised a pause gets it. */
const mostJitter = 0.1;

/** When the attempt after this step of the schedule is due, or null when that was the last. */
export function nextAttemptAt(step: number, now: Date, random: () => number): Date | null {
  const pause = pauses[step - 1];
  if (pause === undefined) return null;
  return new Date(now.getTime() + Math.round(pause * (1 + mostJitter * random())));
}

export function outcomeOfAnswer(statusCode: number): Outcome {
  const isSuccess = statusCode >= 200 && statusCode < 300;
  const isGone = statusCode === 410;
  return { isSuccess, isGone, statusCode, error: isSuccess ? null : explain(statusCode) };
}

function explain(statusCode: number): string {
  if (statusCode === 410) return 'The endpoint answered 410: it is gone, and was switched off.';
  if (statusCode >= 300 && statusCode < 400) {
    return `The endpoint answered ${statusCode}: redirects are not followed, and only 2xx counts as received.`;
  }
  return `The endpoint answered ${statusCode}: only 2xx counts as received.`;
}

/** Since when every attempt has failed, and about when the last one did. */
export type Failing = { since: Date; lastAt: Date };

/** Longer than the longest pause: attempts that are still being made never lie further apart. */
const quiet = 48 * hour;
const longestFailing = 5 * day;

/**
 * The stretch of failures that this one belongs to. One that comes after a long quiet begins another: an endpoint that
 * hears little would otherwise be switched off by a single failure, for one of weeks ago.
 */
export function failingAfter(before: Failing | null, now: Date): Failing {
  const goesOn = before && now.getTime() - before.lastAt.getTime() <= quiet;
  return { since: goesOn ? before.since : now, lastAt: now };
}

export const hasFailedTooLong = ({ since, lastAt }: Failing): boolean =>
  lastAt.getTime() - since.getTime() >= longestFailing;

/** The time of the last failure is kept roughly, so that a failing endpoint costs few writes. */
export const isWorthKeeping = (before: Failing | null, after: Failing): boolean =>
  before?.since.getTime() !== after.since.getTime() || after.lastAt.getTime() - before.lastAt.getTime() >= hour;
