import { expect, it } from 'vitest';
import { setSharedClock, sharedNow } from './clock.ts';

it('the database sets the shared clock, and a slow answer does not make it less exact [FOV-010]', () => {
  const steady = performance.now();
  const hour = 3_600_000;
  const at = 1_800_000_000_000;
  setSharedClock(at, { askedAt: steady, answeredAt: steady });
  const isAbout = (expected: number) => expect(Math.abs(sharedNow() - expected)).toBeLessThan(1_000);
  isAbout(at);
  // The answer took two minutes, and the database read its clock at some time in between.
  setSharedClock(at + 60_000, { askedAt: steady, answeredAt: steady + 120_000 });
  isAbout(at);
  // A new primary, whose clock is behind or ahead.
  setSharedClock(at - hour, { askedAt: steady, answeredAt: steady + 10 });
  isAbout(at - hour);
  setSharedClock(at + hour, { askedAt: steady, answeredAt: steady + 10 });
  isAbout(at + hour);
});
