import { isIP } from 'node:net';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { fail } from '@vestra/contract/errors';
import type { PasskeyRow } from '../../tables.ts';

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
