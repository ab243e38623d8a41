import { expect, it } from 'vitest';
import { setSharedClock, sharedNow } from './clock.ts';

it('the shared clock is set by the database, and no slow answer makes it worse [FOV-010]', () => {
  const steady = performance.now();
  const hour = 3_600_000;
  const at = 1_800_000_000_000;
  setSharedClock(at, { askedAt: steady, answeredAt: steady });
  const isAbout = (expected: number) => expect(Math.abs(sharedNow() - expected)).toBeLessThan(1_000);
  isAbout(at);
  // The answer took two minutes, in which the database may have said this at any moment.
  setSharedClock(at + 60_000, { askedAt: steady, answeredAt: steady + 120_000 });
  isAbout(at);
  // Another server is the primary, and its clock is behind or ahead.
  setSharedClock(at - hour, { askedAt: steady, answeredAt: steady + 10 });
  isAbout(at - hour);
  setSharedClock(at + hour, { askedAt: steady, answeredAt: steady + 10 });
  isAbout(at + hour);
});
