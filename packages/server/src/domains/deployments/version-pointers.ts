import { fail } from '@vestra/contract/errors';
import type { Mode } from '@vestra/contract/route';
import type { DeploymentRow } from './tables.ts';

export type Pointers = Pick<DeploymentRow, 'newest_version' | 'draft_version' | 'live_version'>;

export type PointerState = Pointers & Pick<DeploymentRow, 'status'>;

export type VersionEvent =
  | { type: 'saved' }
  /** The version named goes live in the key's mode. */
  | { type: 'promoted'; version: number }
  /** `to` is the version that was live before this one; null where there was none. */
  | { type: 'rolled_back'; to: number | null };

/** A deployment begins with a draft and nothing live. */
export const firstPointers: Pointers = { newest_version: 1, draft_version: 1, live_version: null };

/** Where the pointers of a deployment stand after an event, or why it is refused. */
export function movePointers(event: VersionEvent, state: PointerState, mode: Mode): Pointers {
  if (event.type === 'rolled_back' && mode === 'test') throw fail('live_key_required');
  if (state.status === 'archived') throw fail('deployment_archived');
  const { newest_version, draft_version, live_version } = state;
  switch (event.type) {
    case 'saved':
      return { newest_version: newest_version + 1, draft_version: newest_version + 1, live_version };
    case 'promoted':
      if (event.version > newest_version) throw fail('version_not_found', { param: 'version' });
      return mode === 'test'
        ? { newest_version, draft_version: event.version, live_version }
        : { newest_version, draft_version, live_version: event.version };
    case 'rolled_back':
      if (event.to === null) throw fail('nothing_to_roll_back');
      return { newest_version, draft_version, live_version: event.to };
  }
}

/** The version that new work runs: the one that is pinned, else the draft in test mode and the live one in live mode. */
export function versionToRun(state: PointerState, mode: Mode, pinned: number | null): number {
  if (state.status === 'archived') throw fail('deployment_archived');
  const version = pinned ?? (mode === 'test' ? state.draft_version : state.live_version);
  if (version === null) throw fail('deployment_not_live');
  return version;
}

/** Putting a deployment away, or bringing it back, ends or begins what live users get where a version is live. */
export function assertMayPutAway({ live_version }: Pointers, mode: Mode): void {
  if (live_version === null || mode === 'live') return;
  throw fail('live_key_required', {
    message: `Version ${live_version} of this deployment is live: archive it, or bring it back, with a live key.`,
  });
}
