import { describe, expect, it } from 'vitest';
import { changedTalks, shownAttempt } from './results.ts';

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

describe('the attempt of a report', () => {
  const results = { fixed: ['scn_1'], not_fixed: [], regressions: [], changed_conversations: 1 };
  const empty = { change: null, cannot_fix: {}, proof_run_id: null, replay_id: null, control_replay_id: null };
  const harmful = { ...empty, version: 2, results };
  const nothing = { ...empty, version: null, results: { ...results, fixed: [], changed_conversations: 0 } };

  it('is the last one that was played, also if a later round proposed nothing [IMPR-708]', () => {
    expect(shownAttempt([harmful, nothing])).toBe(harmful);
    expect(shownAttempt([nothing])).toBe(nothing);
    const accepted = { ...harmful, version: 3, results: { ...results, changed_conversations: 0 } };
    expect(shownAttempt([accepted, harmful])).toBe(accepted);
  });
});
