import { fail } from '@vestra/contract/errors';
import type { Owner } from '../store.ts';

/** Who has a browser. */
export type Holder = 'nobody' | 'agent' | 'person';

/** Why only the person whose browser it is sees it: they give a secret away in it, or pay. */
export type Secrecy = 'private' | 'paying';

/** Who controls the browsers of this process, and which of them are for nobody else's eyes. */
export type Control = {
  holderOf: (owner: Owner) => Holder;
  give: (owner: Owner, holder: Holder) => void;
  secrecyOf: (owner: Owner) => Secrecy | null;
  hide: (owner: Owner, secrecy: Secrecy | null) => void;
  /** No fetch works in a browser that a person is using or that is hidden. */
  assertFree: (owner: Owner) => void;
  isTaken: (owner: Owner) => boolean;
  /** Neither frames nor pictures leave a hidden one, but to its person. */
  assertSeen: (owner: Owner) => void;
};

export function createControl(): Control {
  const holders = new Map<string, Holder>();
  const hidden = new Map<string, Secrecy>();
  const holderOf = (owner: Owner) => holders.get(ownerKey(owner)) ?? 'nobody';
  const secrecyOf = (owner: Owner) => hidden.get(ownerKey(owner)) ?? null;
  const isTaken = (owner: Owner) => holderOf(owner) === 'person';
  return {
    holderOf,
    isTaken,
    secrecyOf,
    give(owner, holder) {
      if (holder === 'nobody') holders.delete(ownerKey(owner));
      else holders.set(ownerKey(owner), holder);
    },
    hide(owner, secrecy) {
      if (secrecy === null) hidden.delete(ownerKey(owner));
      else hidden.set(ownerKey(owner), secrecy);
    },
    assertFree(owner) {
      if (isTaken(owner) || secrecyOf(owner) !== null) throw fail('browser_in_use');
    },
    assertSeen(owner) {
      if (secrecyOf(owner) !== null) throw fail('browser_in_use', { message: 'The screen is private right now.' });
    },
  };
}

export const ownerKey = ({ orgId, mode, userId }: Owner) => JSON.stringify([orgId, mode, userId]);
