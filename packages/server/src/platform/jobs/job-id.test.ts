import { expect, it } from 'vitest';
import { z } from 'zod';
import { newJobId } from './job-id.ts';

it('ids are UUIDs that sort in the order they were made, also within a millisecond and past its end', () => {
  const now = Date.now() + 1000;
  const ids = Array.from({ length: 10_000 }, () => newJobId(now));
  for (const id of [ids[0], ids[4096], ids[9999]]) expect(z.uuidv7().safeParse(id).success).toBe(true);
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});

it('a clock that goes back does not change the order', () => {
  const now = Date.now() + 5000;
  const before = newJobId(now);
  expect(newJobId(now - 3000) > before).toBe(true);
});
