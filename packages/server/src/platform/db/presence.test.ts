import { expect, it } from 'vitest';
import { createPresence } from './presence.ts';

const start = () => {
  const clock = { ms: 0 };
  const presence = createPresence('me', 20_000, () => clock.ms);
  return { clock, presence };
};

it('is alone only with a line that is up, has had time for answers, and carries its own hello', () => {
  const { clock, presence } = start();
  expect(presence.isAlone()).toBe(false);
  presence.up();
  clock.ms = 5_000;
  // Nothing at all was heard: the line may carry nothing.
  expect(presence.isAlone()).toBe(false);
  presence.hear('me');
  expect(presence.isAlone()).toBe(true);
  presence.down();
  expect(presence.isAlone()).toBe(false);
  presence.up();
  presence.hear('me');
  clock.ms = 9_999;
  expect(presence.isAlone()).toBe(false);
  clock.ms = 10_000;
  expect(presence.isAlone()).toBe(true);
});

it('forgets who has been silent for a minute, and does not trust its own line then either', () => {
  const { clock, presence } = start();
  presence.up();
  expect([presence.hear('me'), presence.hear('other'), presence.hear('other')]).toEqual([true, true, false]);
  clock.ms = 30_000;
  presence.hear('me');
  clock.ms = 60_000;
  expect(presence.isAlone()).toBe(false);
  clock.ms = 60_001;
  expect(presence.isAlone()).toBe(true);
  expect(presence.hear('other')).toBe(true);
  expect(presence.isAlone()).toBe(false);
  // It stood still itself: first it has to hear what was said meanwhile, its own hello last.
  clock.ms = 600_000;
  expect(presence.isAlone()).toBe(false);
});
