import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from '../db/pool.ts';
import { keptSetting } from '../db/server-settings.ts';
import { StartFailure } from '../db/start-failure.ts';

/** Envelope encryption: values under a key per org, and that key under the server's master key. */
export type Vault = {
  newDataKey: (orgId: string) => Buffer;
  /** Wraps the same data key under the current master key. */
  rewrap: (wrapped: Buffer, orgId: string) => Buffer;
  seal: (dataKey: WrappedKey, value: Buffer, boundTo: readonly string[]) => Buffer;
  open: (dataKey: WrappedKey, sealed: Buffer, boundTo: readonly string[]) => Buffer;
  /** A key for signing. Only a holder of the master key can derive it from the wrapped key. */
  derive: (dataKey: WrappedKey) => Buffer;
};

type WrappedKey = { orgId: string; wrapped: Buffer };

export class VaultFailure extends Error {}

const nonceLength = 12;
const tagLength = 16;
const keyIdLength = 16;

export function createVault(masterKeys: MasterKeys): Vault {
  // Node first tries a key that is a Buffer as other kinds of keys, and throws and catches an error for each.
  const unwrapped = new Map<string, KeyObject>();

  function wrap(dataKey: Buffer, orgId: string): Buffer {
    const master = masterKeys.current();
    const key = createSecretKey(master.bytes);
    return Buffer.concat([Buffer.from(master.id, 'latin1'), encrypt(key, dataKey, ['data-key', orgId])]);
  }

  function unwrap({ orgId, wrapped }: WrappedKey): KeyObject {
    const name = wrapped.toString('base64');
    const known = unwrapped.get(name);
    if (known) return known;
    const master = masterKeys.byId(wrapped.subarray(0, keyIdLength).toString('latin1'));
    if (!master) throw new VaultFailure('The master key that this was sealed under is not the one in use.');
    const masterKey = createSecretKey(master.bytes);
    const dataKey = createSecretKey(decrypt(masterKey, wrapped.subarray(keyIdLength), ['data-key', orgId]));
    if (unwrapped.size > 10_000) unwrapped.clear();
    unwrapped.set(name, dataKey);
    return dataKey;
  }

  return {
    newDataKey: (orgId) => wrap(randomBytes(32), orgId),
    rewrap: (wrapped, orgId) => wrap(unwrap({ orgId, wrapped }).export(), orgId),
    seal: (dataKey, value, boundTo) => encrypt(unwrap(dataKey), value, boundTo),
    open: (dataKey, sealed, boundTo) => decrypt(unwrap(dataKey), sealed, boundTo),
    derive: (dataKey) => createHmac('sha256', unwrap(dataKey)).update('signing').digest(),
  };
}

function encrypt(key: KeyObject, value: Buffer, boundTo: readonly string[]): Buffer {
  const nonce = randomBytes(nonceLength);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(additionalData(boundTo));
  const body = Buffer.concat([cipher.update(value), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
}

function decrypt(key: KeyObject, sealed: Buffer, boundTo: readonly string[]): Buffer {
  const nonce = sealed.subarray(0, nonceLength);
  const tag = sealed.subarray(nonceLength, nonceLength + tagLength);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce).setAAD(additionalData(boundTo)).setAuthTag(tag);
  try {
    return Buffer.concat([decipher.update(sealed.subarray(nonceLength + tagLength)), decipher.final()]);
  } catch {
    throw new VaultFailure('A sealed value does not belong where it was found, or was changed.');
  }
}

/** A JSON array separates the parts: ["a","bc"] never equals ["ab","c"]. */
const additionalData = (boundTo: readonly string[]) => Buffer.from(JSON.stringify(boundTo), 'utf8');

/** The first key wraps and all keys unwrap, so that an interrupted rotation can continue. */
export type MasterKeys = {
  current: () => MasterKey;
  /** Reads the file again if another process has added a key. */
  byId: (id: string) => MasterKey | undefined;
  /**
   * Adds a new current key; null if the keys come from the environment. Call the returned function to remove the old
   * keys.
   */
  rotate: () => (() => void) | null;
};

type MasterKey = { id: string; bytes: Buffer };

const keyLength = 32;

/** Reads the keys from the setting, or from a file that the first start creates. */
export function openMasterKeys({ dataDir, masterKey }: { dataDir: string; masterKey: string | null }): MasterKeys {
  if (masterKey) return keysOfEnvironment(masterKey);
  const file = masterKeyFile(dataDir);
  if (!existsSync(file)) writeKeys(file, [randomBytes(keyLength)]);
  let keys = readKeys(file);
  return {
    current: () => keys[0] as MasterKey,
    byId(id) {
      const known = keys.find((key) => key.id === id);
      if (known) return known;
      keys = readKeys(file);
      return keys.find((key) => key.id === id);
    },
    rotate() {
      const fresh = randomBytes(keyLength);
      writeKeys(file, [fresh, ...keys.map((key) => key.bytes)]);
      keys = readKeys(file);
      return () => {
        writeKeys(file, [fresh]);
        keys = readKeys(file);
      };
    },
  };
}

/** The keys in the format of the file, for a backup. */
export function formatMasterKeys({ dataDir, masterKey }: { dataDir: string; masterKey: string | null }): string {
  if (masterKey) return `${masterKey.split(',').join('\n')}\n`;
  const file = masterKeyFile(dataDir);
  if (existsSync(file)) return readFileSync(file, 'utf8');
  throw new StartFailure(
    `There is no master key in ${dataDir}: set VESTRA_MASTER_KEY or VESTRA_DATA_DIR as for the server.`,
  );
}

export const masterKeyFile = (dataDir: string): string => join(dataDir, 'master-key');

function keysOfEnvironment(text: string): MasterKeys {
  // The setting may be a copy of the file `master-key`, so lines separate keys too.
  const keys = parseKeys(text.split(/[,\n]/), 'VESTRA_MASTER_KEY');
  return {
    current: () => keys[0] as MasterKey,
    byId: (id) => keys.find((key) => key.id === id),
    rotate: () => null,
  };
}

const readKeys = (file: string): MasterKey[] => parseKeys(readFileSync(file, 'utf8').split('\n').filter(Boolean), file);

function parseKeys(lines: string[], where: string): MasterKey[] {
  const keys = lines
    .map((line) => line.trim())
    .map((line) => {
      const bytes = /^[0-9a-f]{64}$/i.test(line) ? Buffer.from(line, 'hex') : Buffer.from(line, 'base64');
      if (bytes.length !== keyLength) {
        throw new StartFailure(
          `${where} must hold keys of 32 bytes written as 64 hex digits. Make one with: openssl rand -hex 32`,
        );
      }
      return { id: createHash('sha256').update(bytes).digest('hex').slice(0, 16), bytes };
    });
  if (keys.length === 0) throw new StartFailure(`${where} holds no key. Restore it from your backup.`);
  return keys;
}

/** Writes a new file and renames it, so that a crash leaves either the old keys or the new ones. */
function writeKeys(file: string, keys: Buffer[]): void {
  const text = `${keys.map((key) => key.toString('hex')).join('\n')}\n`;
  writeFileSync(`${file}.new`, text, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
}

/**
 * A secret that all processes on this database share. The first process creates it. Reading it also proves that this
 * process has the right master key, before it accepts a request.
 */
export async function sharedSecret(db: Database, vault: Vault, name: string): Promise<Buffer> {
  const scope = settingScope(name);
  const wrapped = await keptSetting(db, name, () => vault.newDataKey(scope));
  if (isSealedBy(vault, name, wrapped)) return vault.derive({ orgId: scope, wrapped });
  throw new StartFailure(
    'The master key does not fit this database. Set VESTRA_MASTER_KEY to the key it was created with, or copy the file master-key from the first server’s data folder.',
  );
}

/** Whether this setting was sealed with the vault's master key. */
export function isSealedBy(vault: Vault, name: string, wrapped: Buffer): boolean {
  try {
    vault.derive({ orgId: settingScope(name), wrapped });
    return true;
  } catch (error) {
    if (error instanceof VaultFailure) return false;
    throw error;
  }
}

/** The scope of a setting's data key, instead of the org id. */
export const settingScope = (name: string): string => `server:${name}`;
