import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { failureSeriesAfter, hasFailedTooLong, isWorthRecording, nextAttemptAt, outcomeOfAnswer } from './attempts.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const start = new Date('2026-01-01T00:00:00Z');
const after = (milliseconds: number) => new Date(start.getTime() + milliseconds);

describe('the retry schedule', () => {
  const pauses = [5000, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour];

  it('pauses as documented and ends after ten attempts [WHD-014]', () => {
    const planned = Array.from({ length: 10 }, (_, at) => nextAttemptAt(at + 1, start, () => 0));
    expect(planned.map((each) => each && each.getTime() - start.getTime())).toEqual([...pauses, null]);
  });

  it('adds jitter: never earlier, at most a tenth later [WHD-014]', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.double({ min: 0, max: 0.999, noNaN: true }), (step, chance) => {
        const pause = (nextAttemptAt(step, start, () => chance) as Date).getTime() - start.getTime();
        const least = pauses[step - 1] as number;
        expect(pause).toBeGreaterThanOrEqual(least);
        expect(pause).toBeLessThanOrEqual(Math.round(least * 1.1));
      }),
    );
    expect(nextAttemptAt(9, start, () => 0)).not.toEqual(nextAttemptAt(9, start, () => 0.5));
  });
});

describe('a response', () => {
  it('succeeds only with 2xx [WHD-011]', () => {
    for (let status = 100; status < 600; status++) {
      const { isSuccess, error } = outcomeOfAnswer(status);
      expect([status, isSuccess, error === null]).toEqual([status, status >= 200 && status <= 299, isSuccess]);
    }
  });

  it('disables the endpoint only with 410', () => {
    expect([200, 301, 404, 409, 410, 411, 500].filter((status) => outcomeOfAnswer(status).isGone)).toEqual([410]);
  });
});

describe('an endpoint', () => {
  it('has failed for too long after five days of failures [WHD-015]', () => {
    let failing = failureSeriesAfter(null, start);
    for (let hours = 0; hours < 120; hours += 24) {
      failing = failureSeriesAfter(failing, after(hours * hour));
      expect(hasFailedTooLong(failing)).toBe(false);
    }
    expect(hasFailedTooLong(failureSeriesAfter(failing, after(5 * day - 1)))).toBe(false);
    expect(hasFailedTooLong(failureSeriesAfter(failing, after(5 * day)))).toBe(true);
  });

  it('starts a new series of failures after a long pause', () => {
    const failing = failureSeriesAfter(null, start);
    const later = failureSeriesAfter(failing, after(30 * day));
    expect([later.since, hasFailedTooLong(later)]).toEqual([after(30 * day), false]);
  });

  it('does not write for every failure', () => {
    const failing = failureSeriesAfter(null, start);
    expect(isWorthRecording(null, failing)).toBe(true);
    expect(isWorthRecording(failing, failureSeriesAfter(failing, after(59 * minute)))).toBe(false);
    expect(isWorthRecording(failing, failureSeriesAfter(failing, after(hour)))).toBe(true);
    expect(isWorthRecording(failing, failureSeriesAfter(failing, after(30 * day)))).toBe(true);
  });
});
