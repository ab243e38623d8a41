import { fail } from '@vestra/contract/errors';
import type { Mode } from '@vestra/contract/route';
import type { DeploymentRow } from '../deployments/tables.ts';

export type VersionPointers = Pick<DeploymentRow, 'last_version' | 'newest_version' | 'draft_version' | 'live_version'>;

export type PointerState = VersionPointers & Pick<DeploymentRow, 'status'>;

export type VersionEvent =
  | { type: 'saved' }
  /** A version that nothing runs until somebody promotes it. */
  | { type: 'proposed' }
  /** The content of the live version changed: the next version is live at once. */
  | { type: 'live_changed' }
  /** The version becomes the draft with a test key, and live with a live key. */
  | { type: 'promoted'; version: number }
  /** `to` is the previous live version, or null if there is none. */
  | { type: 'rolled_back'; to: number | null };

/** A new deployment has a draft and no live version. */
export const firstPointers: VersionPointers = {
  last_version: 1,
  newest_version: 1,
  draft_version: 1,
  live_version: null,
};

/** Returns the pointers after an event, or throws if the event is not allowed. */
export function movePointers(event: VersionEvent, state: PointerState, mode: Mode): VersionPointers {
  if (event.type === 'rolled_back' && mode === 'test') throw fail('live_key_required');
  // Deleting a resource must also take it out of the live version of an archived deployment.
  if (state.status === 'archived' && event.type !== 'live_changed') throw fail('deployment_archived');
  const { last_version, newest_version, draft_version, live_version } = state;
  const next = last_version + 1;
  switch (event.type) {
    case 'saved':
      return { last_version: next, newest_version: next, draft_version: next, live_version };
    case 'proposed':
      return { last_version: next, newest_version, draft_version, live_version };
    case 'live_changed':
      // A draft that differs from the live version stays, so that its changes are neither lost nor published by
      // accident.
      return {
        last_version: next,
        newest_version: newest_version === live_version ? next : newest_version,
        draft_version: draft_version === live_version ? next : draft_version,
        live_version: next,
      };
    case 'promoted':
      if (event.version > last_version) throw fail('version_not_found', { param: 'version' });
      return mode === 'test'
        ? { last_version, newest_version, draft_version: event.version, live_version }
        : { last_version, newest_version, draft_version, live_version: event.version };
    case 'rolled_back':
      if (event.to === null) throw fail('nothing_to_roll_back');
      return { last_version, newest_version, draft_version, live_version: event.to };
  }
}

/**
 * Returns the version for new conversations and tasks: the pinned one, else the draft in test mode or the live one in
 * live mode.
 */
export function versionToRun(
  state: Omit<PointerState, 'last_version' | 'newest_version'>,
  mode: Mode,
  pinned: number | null,
): number {
  if (state.status === 'archived') throw fail('deployment_archived');
  const version = pinned ?? (mode === 'test' ? state.draft_version : state.live_version);
  if (version === null) throw fail('deployment_not_live');
  return version;
}

/**
 * If a version is live, changes that reach live users at once need a live key. `what` names the change in the message.
 */
export function assertMayChangeLive(
  { live_version }: Pick<VersionPointers, 'live_version'>,
  mode: Mode,
  what: string,
): void {
  if (live_version === null || mode === 'live') return;
  throw fail('live_key_required', {
    message: `Version ${live_version} of this deployment is live: ${what} with a live key.`,
  });
}
