import { isIP } from 'node:net';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { fail } from '@vestra/contract/errors';
import type { Database, Transaction } from '../../../platform/db/pool.ts';
import { transaction } from '../../../platform/db/transaction.ts';
import type { RateLimiter } from '../../../platform/http/rate-limit.ts';
import type { PasskeyRow } from '../../tables.ts';
import { recordAccess, type Source } from '../access-log.ts';
import { openLoginSession, type SignedIn } from '../console-sessions.ts';
import {
  beginAttempt,
  countUse,
  derived,
  findPasskey,
  insertPasskey,
  listPasskeys,
  lockLogin,
  takeAttempt,
} from '../login-store.ts';
import { addressOf } from '../member.ts';
import { checkPassword } from '../passwords.ts';
import { listMemberships } from '../store.ts';

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

/** The relying party. Browsers bind a passkey to its name, and each response to its origin. */
type Party = { rpID: string; origin: string };

/** Browsers accept only host names over https, or localhost. */
export function partyOf(publicUrl: string): Party {
  const { hostname, protocol, origin } = new URL(publicUrl);
  const isNamed = isIP(hostname.replace(/^\[|\]$/g, '')) === 0;
  if (!isNamed || (protocol !== 'https:' && hostname !== 'localhost')) throw fail('passkeys_unavailable');
  return { rpID: hostname, origin };
}

/** A passkey replaces the password, so the device must verify the person by fingerprint, face or PIN. */
const userVerification = 'required';

/** Ed25519, ES256 and RS256. */
const algorithms = [-8, -7, -257] as const;

const bytesOf = (challenge: string) => new Uint8Array(Buffer.from(challenge, 'base64url'));

async function registrationOptions(
  { rpID }: Party,
  { challenge, email, known }: { challenge: string; email: string; known: readonly PasskeyRow[] },
) {
  const { generateRegistrationOptions } = await import('@simplewebauthn/server');
  return generateRegistrationOptions({
    rpName: 'Vestra',
    rpID,
    userName: email,
    challenge: bytesOf(challenge),
    attestationType: 'none',
    supportedAlgorithmIDs: [...algorithms],
    excludeCredentials: known.map(({ credential_id }) => ({ id: credential_id })),
    authenticatorSelection: { residentKey: 'required', userVerification },
  });
}

async function signInOptions({ rpID }: Party, challenge: string) {
  const { generateAuthenticationOptions } = await import('@simplewebauthn/server');
  return generateAuthenticationOptions({ rpID, challenge: bytesOf(challenge), userVerification });
}

type Registered = Pick<PasskeyRow, 'credential_id' | 'public_key' | 'counter' | 'transports'>;

/** Null unless the response matches the challenge and the origin, and the device verified the person. */
export async function checkRegistration(
  { rpID, origin }: Party,
  challenge: string,
  credential: unknown,
): Promise<Registered | null> {
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
  const checked = await verifyRegistrationResponse({
    response: credential as RegistrationResponseJSON,
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: rpID,
    requireUserVerification: true,
    supportedAlgorithmIDs: [...algorithms],
  }).catch(() => null);
  if (!checked?.verified || isFramed(credential)) return null;
  const { id, publicKey, counter, transports = [] } = checked.registrationInfo.credential;
  return { credential_id: id, public_key: Buffer.from(publicKey), counter, transports: transports.map(String) };
}

/** The device's counter after this sign-in. Null if the response is invalid or the counter has not increased. */
export async function checkSignIn(
  { rpID, origin }: Party,
  challenge: string,
  { passkey, credential }: { passkey: PasskeyRow; credential: unknown },
): Promise<number | null> {
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
  const checked = await verifyAuthenticationResponse({
    response: credential as AuthenticationResponseJSON,
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: rpID,
    requireUserVerification: true,
    credential: {
      id: passkey.credential_id,
      publicKey: new Uint8Array(passkey.public_key),
      counter: passkey.counter,
    },
  }).catch(() => null);
  return checked?.verified && !isFramed(credential) ? checked.authenticationInfo.newCounter : null;
}

/** Whether the request came from a frame in another site, which may have tricked the person. */
function isFramed(credential: unknown): boolean {
  const { clientDataJSON } = (credential as AuthenticationResponseJSON).response;
  const { crossOrigin, topOrigin } = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString());
  return crossOrigin === true || topOrigin !== undefined;
}
