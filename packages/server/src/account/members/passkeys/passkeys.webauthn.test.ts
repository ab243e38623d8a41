import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { PasskeyRow } from '../../tables.ts';
import { checkRegistration, checkSignIn } from './passkeys.ts';

const party = { rpID: 'console.example', origin: 'https://console.example' };
const challenge = randomBytes(32).toString('base64url');
const otherChallenge = randomBytes(32).toString('base64url');

/** A signed response. Each row of the tables below changes one field. */
type Said = {
  type: string;
  origin: string;
  challenge: string;
  rpID: string;
  isVerified: boolean;
  crossOrigin: boolean;
  topOrigin?: string;
  count: number;
  key: KeyObject;
};

const device = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const otherDevice = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const credentialId = randomBytes(16);
const passkey = {
  credential_id: credentialId.toString('base64url'),
  public_key: coseKey(device.publicKey),
  counter: 5,
} as PasskeyRow;

describe('[MBR-420, MBR-615] registering a passkey requires a response to this challenge and origin, with user verification', () => {
  it('accepts the response of the device', async () => {
    expect(await registered({})).toMatchObject({ credential_id: passkey.credential_id, counter: 6 });
  });

  it.each<[string, Partial<Said>]>([
    ['another origin', { origin: 'https://console.example.evil.example' }],
    ['another port of the same name', { origin: 'https://console.example:8443' }],
    ['another name', { rpID: 'evil.example' }],
    ['another challenge', { challenge: otherChallenge }],
    ['an answer to a sign-in', { type: 'webauthn.get' }],
    ['nobody shown to be there', { isVerified: false }],
    ['a frame of another site', { crossOrigin: true }],
    ['a page of another site around it', { topOrigin: 'https://evil.example' }],
  ])('refuses %s', async (_, changed) => {
    expect(await registered(changed)).toBeNull();
  });
});

describe('[MBR-421, MBR-615] signing in requires a response of the passkey to this challenge and origin, with user verification', () => {
  it('accepts the response of the device and its counter', async () => {
    expect(await signedIn({})).toBe(6);
  });

  it.each<[string, Partial<Said>]>([
    ['another origin', { origin: 'https://console.example.evil.example' }],
    ['another port of the same name', { origin: 'https://console.example:8443' }],
    ['another name', { rpID: 'evil.example' }],
    ['another challenge', { challenge: otherChallenge }],
    ['an answer to a registration', { type: 'webauthn.create' }],
    ['nobody shown to be there', { isVerified: false }],
    ['a frame of another site', { crossOrigin: true }],
    ['a page of another site around it', { topOrigin: 'https://evil.example' }],
    ['another key', { key: otherDevice.privateKey }],
    ['a count seen before', { count: 5 }],
    ['a count gone down', { count: 4 }],
    ['a count begun anew', { count: 0 }],
  ])('refuses %s', async (_, changed) => {
    expect(await signedIn(changed)).toBeNull();
  });

  it('accepts a device without a counter repeatedly', async () => {
    expect(await signedIn({ count: 0 }, { ...passkey, counter: 0 })).toBe(0);
  });
});

const told = (changed: Partial<Said>, type: string): Said => ({
  type,
  origin: party.origin,
  challenge,
  rpID: party.rpID,
  isVerified: true,
  crossOrigin: false,
  count: 6,
  key: device.privateKey,
  ...changed,
});

function registered(changed: Partial<Said>) {
  const said = told(changed, 'webauthn.create');
  const attested = Buffer.concat([Buffer.alloc(16), uint16(credentialId.length), credentialId, passkey.public_key]);
  const authData = Buffer.concat([authenticatorData(said, 0x40), attested]);
  const attestationObject = Buffer.concat([
    Buffer.from([0xa3]),
    cborText('fmt'),
    cborText('none'),
    cborText('attStmt'),
    Buffer.from([0xa0]),
    cborText('authData'),
    Buffer.from([0x59]),
    uint16(authData.length),
    authData,
  ]);
  return checkRegistration(party, challenge, {
    ...envelope,
    response: { clientDataJSON: base64(clientData(said)), attestationObject: base64(attestationObject) },
  });
}

function signedIn(changed: Partial<Said>, known = passkey) {
  const said = told(changed, 'webauthn.get');
  const authData = authenticatorData(said);
  const signed = Buffer.concat([authData, sha256(clientData(said))]);
  const response = {
    clientDataJSON: base64(clientData(said)),
    authenticatorData: base64(authData),
    signature: base64(sign('sha256', signed, said.key)),
  };
  return checkSignIn(party, challenge, { passkey: known, credential: { ...envelope, response } });
}

const envelope = {
  id: passkey.credential_id,
  rawId: passkey.credential_id,
  type: 'public-key',
  clientExtensionResults: {},
};

const clientData = ({ type, origin, challenge, crossOrigin, topOrigin }: Said) =>
  Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin, topOrigin }));

/** The flags "user present" and "user verified", plus those of the caller. */
function authenticatorData({ rpID, isVerified, count }: Said, more = 0): Buffer {
  const flags = 0x01 | (isVerified ? 0x04 : 0) | more;
  const counted = Buffer.alloc(4);
  counted.writeUInt32BE(count);
  return Buffer.concat([sha256(rpID), Buffer.from([flags]), counted]);
}

/** An ES256 key in COSE encoding. */
function coseKey(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  const head = Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20]);
  return Buffer.concat([
    head,
    Buffer.from(x, 'base64url'),
    Buffer.from([0x22, 0x58, 0x20]),
    Buffer.from(y, 'base64url'),
  ]);
}

const cborText = (text: string) => Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)]);

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest();
const base64 = (bytes: Buffer) => bytes.toString('base64url');
