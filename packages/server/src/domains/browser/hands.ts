import { fail } from '@vestra/contract/errors';
import type { Owner } from '../computers/api.ts';

/** Who has a browser: a person drives it, drives it with nobody looking on, or pays in it. */
export type Holder = 'nobody' | 'agent' | 'person' | 'private' | 'paying';

/** In whose hands the browsers of this process are. */
export type Hands = {
  holderOf: (owner: Owner) => Holder;
  give: (owner: Owner, holder: Holder) => void;
  /** Nobody works in a browser that a person is using. */
  assertFree: (owner: Owner) => void;
  isTaken: (owner: Owner) => boolean;
  /** Neither frames nor pictures leave it. */
  isHidden: (owner: Owner) => boolean;
  /** Nobody looks at a screen that is private. */
  assertSeen: (owner: Owner) => void;
};

export function createHands(): Hands {
  const holders = new Map<string, Holder>();
  const holderOf = (owner: Owner) => holders.get(ownerKey(owner)) ?? 'nobody';
  const isTaken = (owner: Owner) => ['person', 'private', 'paying'].includes(holderOf(owner));
  const isHidden = (owner: Owner) => ['private', 'paying'].includes(holderOf(owner));
  return {
    holderOf,
    isTaken,
    isHidden,
    give(owner, holder) {
      if (holder === 'nobody') holders.delete(ownerKey(owner));
      else holders.set(ownerKey(owner), holder);
    },
    assertFree(owner) {
      if (isTaken(owner)) throw fail('browser_in_use');
    },
    assertSeen(owner) {
      if (isHidden(owner)) throw fail('browser_in_use', { message: 'The screen is private right now.' });
    },
  };
}

export const ownerKey = ({ orgId, mode, userId }: Owner) => JSON.stringify([orgId, mode, userId]);
