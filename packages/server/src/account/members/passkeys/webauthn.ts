import { isIP } from 'node:net';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { fail } from '@vestra/contract/errors';
import type { PasskeyRow } from '../../tables.ts';

/** For whom a passkey is: browsers bind it to this name, and each answer to this origin. */
type Party = { rpID: string; origin: string };

/** Browsers take a name alone, by https, or the machine of a developer. */
export function partyOf(publicUrl: string): Party {
  const { hostname, protocol, origin } = new URL(publicUrl);
  const isNamed = isIP(hostname.replace(/^\[|\]$/g, '')) === 0;
  if (!isNamed || (protocol !== 'https:' && hostname !== 'localhost')) throw fail('passkeys_unavailable');
  return { rpID: hostname, origin };
}

/** The device shows that a person is there, by finger, face or PIN: it stands for the password. */
const userVerification = 'required';

/** Ed25519, ES256 and RS256: what devices have. */
const algorithms = [-8, -7, -257] as const;

const bytesOf = (challenge: string) => new Uint8Array(Buffer.from(challenge, 'base64url'));

export async function registrationOptions(
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

export async function signInOptions({ rpID }: Party, challenge: string) {
  const { generateAuthenticationOptions } = await import('@simplewebauthn/server');
  return generateAuthenticationOptions({ rpID, challenge: bytesOf(challenge), userVerification });
}

type Registered = Pick<PasskeyRow, 'credential_id' | 'public_key' | 'counter' | 'transports'>;

/** Null where the answer is not one to this challenge, at this origin, of a person who was there. */
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

/** The device's count after this sign-in; null where the answer does not hold, or its count has not gone up. */
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

/** Whether the device was asked in a frame of another site, whose page may have led the person to agree. */
function isFramed(credential: unknown): boolean {
  const { clientDataJSON } = (credential as AuthenticationResponseJSON).response;
  const { crossOrigin, topOrigin } = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString());
  return crossOrigin === true || topOrigin !== undefined;
}
