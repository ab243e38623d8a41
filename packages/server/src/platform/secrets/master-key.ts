import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartFailure } from '../db/start-failure.ts';

/** The first key wraps; any of them unwraps, so that a rotation can stop half way and go on. */
export type MasterKeys = {
  current: () => MasterKey;
  /** Looks again at the file for a key that another process rotated in. */
  byId: (id: string) => MasterKey | undefined;
  /** Makes a new current key and keeps the ones before it; null where the environment holds the keys. */
  rotate: () => (() => void) | null;
};

type MasterKey = { id: string; bytes: Buffer };

const keyLength = 32;

/** From the setting where there is one, else from a file that is made at the first start. */
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

/** The keys as a file holds them, to be kept elsewhere. */
export function writtenMasterKeys({ dataDir, masterKey }: { dataDir: string; masterKey: string | null }): string {
  if (masterKey) return `${masterKey.split(',').join('\n')}\n`;
  const file = masterKeyFile(dataDir);
  if (existsSync(file)) return readFileSync(file, 'utf8');
  throw new StartFailure(
    `There is no master key in ${dataDir}: set VESTRA_MASTER_KEY or VESTRA_DATA_DIR as for the server.`,
  );
}

export const masterKeyFile = (dataDir: string): string => join(dataDir, 'master-key');

function keysOfEnvironment(text: string): MasterKeys {
  // By lines as well: a copy of the file `master-key` may be what the setting is read from.
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

/** Written beside and renamed, so that a crash leaves either the old keys or the new ones. */
function writeKeys(file: string, keys: Buffer[]): void {
  const text = `${keys.map((key) => key.toString('hex')).join('\n')}\n`;
  writeFileSync(`${file}.new`, text, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
}
