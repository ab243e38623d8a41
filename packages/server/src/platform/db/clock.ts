/**
 * The time of the database, which all processes share: whatever another process or a column compares with is taken from
 * here. The clock of a machine may be an hour off, and may jump; this one is set by the database with each connection and
 * goes on with the process's steady clock in between. A clock that no database has set yet is the machine's own at the
 * start of the process.
 */
let sharedMinusSteady = performance.timeOrigin;

export const sharedNow = (): number => Math.round(performance.now() + sharedMinusSteady);

export const sharedDate = (): Date => new Date(sharedNow());

/** The database said that it was `at`, some time between being asked and answering; both by `performance.now()`. */
export function setSharedClock(at: number, { askedAt, answeredAt }: { askedAt: number; answeredAt: number }): void {
  sharedMinusSteady = nearestWithin(sharedMinusSteady, at - answeredAt, at - askedAt);
}

/** A clock that agrees with the answer stays as it is, so that a slow answer does not make it worse. */
const nearestWithin = (value: number, least: number, most: number) => Math.min(most, Math.max(least, value));
