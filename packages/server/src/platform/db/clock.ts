/**
 * The time of the database, which all processes share. Use it for every time that another process or a column compares.
 * The clock of a machine may be an hour off and may jump. Each new connection sets this clock, and the monotonic clock of
 * the process advances it in between. Until the first connection it is the machine's clock at the start of the process.
 */
let sharedMinusSteady = performance.timeOrigin;

export const sharedNow = (): number => Math.round(performance.now() + sharedMinusSteady);

export const sharedDate = (): Date => new Date(sharedNow());

/** The database returned the time `at` to a query that ran from `askedAt` to `answeredAt`, by `performance.now()`. */
export function setSharedClock(at: number, { askedAt, answeredAt }: { askedAt: number; answeredAt: number }): void {
  sharedMinusSteady = nearestWithin(sharedMinusSteady, at - answeredAt, at - askedAt);
}

/** A clock within the possible range stays unchanged, so that a slow answer does not make it less exact. */
const nearestWithin = (value: number, least: number, most: number) => Math.min(most, Math.max(least, value));
