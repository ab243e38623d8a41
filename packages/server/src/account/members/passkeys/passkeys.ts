import { fail } from '@vestra/contract/errors';
import type { Database, Transaction } from '../../../platform/db/pool.ts';
import { transaction } from '../../../platform/db/transaction.ts';
import type { RateLimiter } from '../../../platform/http/rate-limit.ts';
import type { PasskeyRow } from '../../tables.ts';
import { recordAccess, type Source } from '../access-log.ts';
import { openLoginSession, type SignedIn } from '../console-sessions.ts';
import { countUse, findPasskey, insertPasskey, listPasskeys, lockLogin } from '../login-store.ts';
import { addressOf } from '../member.ts';
import { checkPassword } from '../passwords.ts';
import { beginAttempt, derived, takeAttempt } from '../sign-in-attempts.ts';
import { listMemberships } from '../store.ts';
import { checkRegistration, checkSignIn, partyOf, registrationOptions, signInOptions } from './webauthn.ts';

const maxPasskeys = 20;

/** Requires the password, so that an unattended browser is not enough to add a passkey. */
export async function beginRegistration(
  { db, rateLimiter, publicUrl }: { db: Database; rateLimiter: RateLimiter; publicUrl: string },
  person: SignedIn,
  password: string,
  source: Source,
) {
  const party = partyOf(publicUrl);
  const login = await checkPassword({ db, rateLimiter }, person, password, source);
  const { email } = login;
  const known = await listPasskeys(db, email, { limit: maxPasskeys, after: null });
  if (known.length >= maxPasskeys) throw fail('too_many_passkeys');
  const token = await beginAttempt(db, { kind: 'passkey_registration', email });
  const asked = { challenge: derived(token, 'challenge'), email: addressOf(login), known };
  return { token, options: await registrationOptions(party, asked) };
}

export async function register(
  { db, publicUrl }: { db: Database; publicUrl: string },
  { session, memberships }: SignedIn,
  { token, name, credential }: { token: string | null; name: string; credential: unknown },
  source: Source,
): Promise<PasskeyRow> {
  const party = partyOf(publicUrl);
  const attempt = token === null ? undefined : await takeAttempt(db, token, ['passkey_registration']);
  // Another person may have signed in since the registration began.
  if (!token || !attempt?.email || attempt.email !== session.email) throw fail('passkey_refused');
  const registered = await checkRegistration(party, derived(token, 'challenge'), credential);
  if (!registered) throw fail('passkey_refused', { param: 'credential' });
  const { email } = attempt;
  return transaction(db, (tx: Transaction) => keep(tx, { email, name, ...registered }));

  async function keep(tx: Transaction, row: Parameters<typeof insertPasskey>[1]): Promise<PasskeyRow> {
    await lockLogin(tx, row.email, 'update');
    if ((await listPasskeys(tx, row.email, { limit: maxPasskeys, after: null })).length >= maxPasskeys)
      throw fail('too_many_passkeys');
    const kept = await insertPasskey(tx, row);
    if (!kept) throw fail('passkey_refused', { param: 'credential' });
    await recordAccess(tx, memberships, 'member.passkey_added', source, { passkey: kept.name });
    return kept;
  }
}

type Dependencies = { db: Database; publicUrl: string };

/** The request names no user. The device offers its passkeys, so the server never reveals who has one. */
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

/** Null if the passkey or the login is gone, the login opens no org, or a concurrent sign-in used the same counter. */
async function enter(tx: Transaction, passkey: PasskeyRow, count: number, source: Source) {
  if (!(await lockLogin(tx, passkey.email, 'share'))) return null;
  if (!(await countUse(tx, passkey, count))) return null;
  return openLoginSession(tx, passkey.email, source, 'passkey');
}

const refused = () =>
  fail('login_failed', { message: 'This passkey is not valid here. Try again, or use the password.' });
