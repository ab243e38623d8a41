import { describe, expect, it } from 'vitest';
import { changedTalks } from './results.ts';

describe('a replayed conversation', () => {
  it.each([
    ['same', null, false],
    ['different', null, true],
    ['different', 'same', true],
    ['different', 'different', false],
    ['different', 'failed', true],
    // No answer is worse than another one, unless the current version has none either.
    ['failed', null, true],
    ['failed', 'same', true],
    ['failed', 'different', false],
    ['failed', 'failed', false],
    ['cancelled', null, false],
  ] as const)(
    'that is %s, and %s with the current version, is a regression: %s [IMPR-709]',
    (status, now, isChanged) => {
      const talk = { source_id: 'conv_1', status };
      const control = now === null ? [] : [{ source_id: 'conv_1', status: now }];
      expect(changedTalks([talk], control)).toEqual(isChanged ? [talk] : []);
    },
  );
});
