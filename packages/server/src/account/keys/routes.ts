import type { Caller } from '../../platform/caller.ts';
import type { Database } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import { createKey } from './create.ts';
import type { KeyIdentity } from './identity.ts';
import { refuseStrongerKey } from './key.ts';
import { presentKey } from './present.ts';
import { revokeKey } from './revoke.ts';
import { rollKey } from './roll.ts';
import { listKeys } from './store.ts';

type KeyDependencies = {
  db: Database;
  identity: KeyIdentity;
  /** Told after a key was revoked: what it holds open closes. */
  ended: (keyId: string) => void;
};

export function keyRoutes({ db, identity, ended }: KeyDependencies): Handlers<'keys'> {
  return {
    list: async ({ caller, page }) => page.of(await listKeys(db, caller, page), presentKey, (row) => [row.id]),
    create: async ({ caller, origin, body, commit }) => {
      refuseStrongerKey(makerOf(caller), body);
      return commit((tx) => createKey(tx, origin, body));
    },
    roll: async ({ caller, origin, params, body, commit }) => {
      const answer = await commit((tx) =>
        rollKey(tx, origin, {
          keyId: params.key_id,
          graceSeconds: body.grace_seconds,
          mayTouch: (key) => refuseStrongerKey(makerOf(caller), key),
        }),
      );
      identity.forget(params.key_id);
      return answer;
    },
    revoke: async ({ caller, origin, params }) => {
      await transaction(db, (tx) =>
        revokeKey(tx, origin, {
          keyId: params.key_id,
          mayTouch: (key) => refuseStrongerKey(makerOf(caller), key),
        }),
      );
      identity.forget(params.key_id);
      ended(params.key_id);
      return { object: 'key', id: params.key_id, deleted: true };
    },
  };
}

const makerOf = ({ mode, scopes, member }: Caller) => ({ mode, scopes, isMember: member !== null });
