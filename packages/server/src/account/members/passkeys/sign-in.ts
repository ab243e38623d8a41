import { fail } from '@vestra/contract/errors';
import type { Database, Transaction } from '../../../platform/db/pool.ts';
import { transaction } from '../../../platform/db/transaction.ts';
import { beginAttempt, derived, takeAttempt } from '../attempt-token.ts';
import { lockLogin } from '../login-store.ts';
import { openLoginSession } from '../open-session.ts';
import { recordAccess } from '../record-access.ts';
import type { Source } from '../source.ts';
import { listMemberships } from '../store.ts';
import type { PasskeyRow } from '../tables.ts';
import { countUse, findPasskey } from './store.ts';
import { checkSignIn, partyOf, signInOptions } from './webauthn.ts';

type Dependencies = { db: Database; publicUrl: string };

/** Nobody is named: the device offers whose keys it has, and the server tells nobody who has one. */
export async function beginPasskeySignIn({ db, publicUrl }: Dependencies) {
  const party = partyOf(publicUrl);
  const token = await beginAttempt(db, { kind: 'passkey' });
  return { token, options: await signInOptions(party, derived(token, 'challenge')) };
}

export async function signInWithPasskey(
  { db, publicUrl }: Dependencies,
  { token, credential }: { token: string | null; credential: { id: string } },
  source: Source,
) {
  const party = partyOf(publicUrl);
  const attempt = token === null ? undefined : await takeAttempt(db, token, ['passkey']);
  const passkey = attempt && (await findPasskey(db, credential.id));
  if (!token || !passkey) throw refused();
  const count = await checkSignIn(party, derived(token, 'challenge'), { passkey, credential });
  const opened = count === null ? null : await transaction(db, (tx) => enter(tx, passkey, count, source));
  if (opened) return opened;
  await recordAccess(db, await listMemberships(db, passkey.email), 'member.login_failed', source, { by: 'passkey' });
  throw refused();
}

/** Null where the key or the login has gone, leads nowhere, or the same count was used twice at once. */
async function enter(tx: Transaction, passkey: PasskeyRow, count: number, source: Source) {
  if (!(await lockLogin(tx, passkey.email, 'share'))) return null;
  if (!(await countUse(tx, passkey, count))) return null;
  return openLoginSession(tx, passkey.email, source, 'passkey');
}

const refused = () =>
  fail('login_failed', { message: 'This passkey signs nobody in. Begin again, or use the password.' });
