import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import type { MasterKeys } from './master-key.ts';

/** Envelope encryption: values under a key per org, that key under the server's master key. */
export type Vault = {
  newDataKey: (orgId: string) => Buffer;
  /** Wraps the same data key under the current master key. */
  rewrap: (wrapped: Buffer, orgId: string) => Buffer;
  seal: (dataKey: WrappedKey, value: Buffer, boundTo: readonly string[]) => Buffer;
  open: (dataKey: WrappedKey, sealed: Buffer, boundTo: readonly string[]) => Buffer;
  /** A key for signing, which only a holder of the master key can make again from the wrapped one. */
  derive: (dataKey: WrappedKey) => Buffer;
};

type WrappedKey = { orgId: string; wrapped: Buffer };

export class VaultFailure extends Error {}

const nonceLength = 12;
const tagLength = 16;
const keyIdLength = 16;

export function createVault(masterKeys: MasterKeys): Vault {
  const unwrapped = new Map<string, Buffer>();

  function wrap(dataKey: Buffer, orgId: string): Buffer {
    const master = masterKeys.current();
    return Buffer.concat([Buffer.from(master.id, 'latin1'), encrypt(master.bytes, dataKey, ['data-key', orgId])]);
  }

  function unwrap({ orgId, wrapped }: WrappedKey): Buffer {
    const name = wrapped.toString('base64');
    const known = unwrapped.get(name);
    if (known) return known;
    const master = masterKeys.byId(wrapped.subarray(0, keyIdLength).toString('latin1'));
    if (!master) throw new VaultFailure('The master key that this was sealed under is not the one in use.');
    const dataKey = decrypt(master.bytes, wrapped.subarray(keyIdLength), ['data-key', orgId]);
    if (unwrapped.size > 10_000) unwrapped.clear();
    unwrapped.set(name, dataKey);
    return dataKey;
  }

  return {
    newDataKey: (orgId) => wrap(randomBytes(32), orgId),
    rewrap: (wrapped, orgId) => wrap(unwrap({ orgId, wrapped }), orgId),
    seal: (dataKey, value, boundTo) => encrypt(unwrap(dataKey), value, boundTo),
    open: (dataKey, sealed, boundTo) => decrypt(unwrap(dataKey), sealed, boundTo),
    derive: (dataKey) => createHmac('sha256', unwrap(dataKey)).update('signing').digest(),
  };
}

function encrypt(key: Buffer, value: Buffer, boundTo: readonly string[]): Buffer {
  const nonce = randomBytes(nonceLength);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(additionalData(boundTo));
  const body = Buffer.concat([cipher.update(value), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
}

function decrypt(key: Buffer, sealed: Buffer, boundTo: readonly string[]): Buffer {
  const nonce = sealed.subarray(0, nonceLength);
  const tag = sealed.subarray(nonceLength, nonceLength + tagLength);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce).setAAD(additionalData(boundTo)).setAuthTag(tag);
  try {
    return Buffer.concat([decipher.update(sealed.subarray(nonceLength + tagLength)), decipher.final()]);
  } catch {
    throw new VaultFailure('A sealed value does not belong where it was found, or was changed.');
  }
}

/** A JSON array keeps the parts apart: ["a","bc"] never reads like ["ab","c"]. */
const additionalData = (boundTo: readonly string[]) => Buffer.from(JSON.stringify(boundTo), 'utf8');
