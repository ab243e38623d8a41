import { Failure } from '@vestra/contract/errors';
import { describe, expect, it } from 'vitest';
import {
  assertMayChangeLive,
  firstPointers,
  movePointers,
  type PointerState,
  type VersionEvent,
  type VersionPointers,
  versionToRun,
} from './version-pointers.ts';

const state = (
  newest: number,
  draft: number,
  live: number | null,
  status: 'active' | 'archived' = 'active',
  last = Math.max(newest, draft, live ?? 0),
) => ({
  status,
  last_version: last,
  newest_version: newest,
  draft_version: draft,
  live_version: live,
});

const save: VersionEvent = { type: 'saved' };
const proposed: VersionEvent = { type: 'proposed' };
const liveChanged: VersionEvent = { type: 'live_changed' };
const promote = (version: number): VersionEvent => ({ type: 'promoted', version });
const rollBack = (to: number | null): VersionEvent => ({ type: 'rolled_back', to });

/** Newest, draft and live version, or the error code. */
type Outcome = readonly [number, number, number | null] | string;

const rows: [what: string, VersionEvent, PointerState, test: Outcome, live: Outcome][] = [
  ['a save, which moves the draft and not the live version', save, state(1, 1, null), [2, 2, null], [2, 2, null]],
  ['a save leaves the live version', save, state(3, 3, 2), [4, 4, 2], [4, 4, 2]],
  ['a save follows the newest version, not an older draft', save, state(3, 1, 2), [4, 4, 2], [4, 4, 2]],
  ['a save after a live change', save, state(3, 3, 4), [5, 5, 4], [5, 5, 4]],
  ['a proposal, which moves nothing', proposed, state(3, 1, 2), [3, 1, 2], [3, 1, 2]],
  ['a live change, if draft and live are the same', liveChanged, state(2, 2, 2), [3, 3, 3], [3, 3, 3]],
  ['a live change, if the draft is newer', liveChanged, state(5, 5, 3), [5, 5, 6], [5, 5, 6]],
  ['a live change, if the draft is back at the live version', liveChanged, state(5, 3, 3), [5, 6, 6], [5, 6, 6]],
  ['a live change in an archived deployment', liveChanged, state(2, 2, 2, 'archived'), [3, 3, 3], [3, 3, 3]],
  ['a first promotion', promote(1), state(1, 1, null), [1, 1, null], [1, 1, 1]],
  ['a promotion of the newest', promote(3), state(3, 3, 1), [3, 3, 1], [3, 3, 3]],
  ['a promotion of an older one', promote(1), state(3, 3, 3), [3, 1, 3], [3, 3, 1]],
  ['a promotion while the draft is an older one', promote(3), state(3, 2, 1), [3, 3, 1], [3, 2, 3]],
  ['a promotion of what runs already', promote(2), state(2, 2, 2), [2, 2, 2], [2, 2, 2]],
  ['a promotion of a change of what was live', promote(4), state(3, 3, 2, 'active', 4), [3, 4, 2], [3, 3, 4]],
  ['a promotion of no version', promote(4), state(3, 3, null), 'version_not_found', 'version_not_found'],
  ['a rollback', rollBack(1), state(3, 3, 2), 'live_key_required', [3, 3, 1]],
  ['a rollback to a newer version', rollBack(3), state(3, 1, 2), 'live_key_required', [3, 1, 3]],
  ['a rollback with nothing before', rollBack(null), state(2, 2, 1), 'live_key_required', 'nothing_to_roll_back'],
  ['a rollback with nothing live', rollBack(null), state(1, 1, null), 'live_key_required', 'nothing_to_roll_back'],
  ['a save of what is archived', save, state(1, 1, null, 'archived'), 'deployment_archived', 'deployment_archived'],
  ['a promotion of it', promote(1), state(2, 2, 1, 'archived'), 'deployment_archived', 'deployment_archived'],
  ['a rollback of it', rollBack(1), state(2, 2, 2, 'archived'), 'live_key_required', 'deployment_archived'],
];

describe('the pointers of a deployment after', () => {
  it.each(rows)('%s', (_what, event, before, test, live) => {
    expect(
      outcome(() => movePointers(event, before, 'test')),
      'test key',
    ).toEqual(test);
    expect(
      outcome(() => movePointers(event, before, 'live')),
      'live key',
    ).toEqual(live);
  });
});

describe('the last version number', () => {
  it('is 1 for a new deployment without a live version', () => {
    expect(firstPointers).toEqual({ last_version: 1, newest_version: 1, draft_version: 1, live_version: null });
  });

  it.each([
    [save, 6],
    [liveChanged, 6],
    [promote(2), 5],
    [rollBack(2), 5],
  ])('after %j with five versions, and a resource deleted from the live fifth, is %i', (event, last) => {
    expect(movePointers(event, state(4, 4, 3, 'active', 5), 'live').last_version).toBe(last);
  });
});

describe('archiving and unarchiving', () => {
  it.each([
    ['by any key if no version is live', state(2, 2, null), undefined, undefined],
    ['by a live key alone where a version is', state(2, 2, 1), 'live_key_required', undefined],
  ])('%s', (_what, pointers, test, live) => {
    expect(outcome(() => assertMayChangeLive(pointers, 'test', 'change it'))).toBe(test);
    expect(outcome(() => assertMayChangeLive(pointers, 'live', 'change it'))).toBe(live);
  });
});

describe('the version that runs', () => {
  it.each([
    ['without a pin', state(3, 2, 1), null, 2, 1],
    ['with nothing live', state(3, 2, null), null, 2, 'deployment_not_live'],
    ['with a pin', state(3, 2, 1), 3, 3, 3],
    ['of what is archived', state(3, 2, 1, 'archived'), null, 'deployment_archived', 'deployment_archived'],
  ])('%s', (_what, pointers, pinned, test, live) => {
    expect(
      outcome(() => versionToRun(pointers, 'test', pinned)),
      'test key',
    ).toBe(test);
    expect(
      outcome(() => versionToRun(pointers, 'live', pinned)),
      'live key',
    ).toBe(live);
  });
});

function outcome<Decided>(decide: () => Decided): Decided | Outcome {
  try {
    const decided = decide();
    return isPointers(decided) ? [decided.newest_version, decided.draft_version, decided.live_version] : decided;
  } catch (error) {
    if (error instanceof Failure) return error.code;
    throw error;
  }
}

const isPointers = (decided: unknown): decided is VersionPointers => typeof decided === 'object';
