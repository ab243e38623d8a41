import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign, verify } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { StartFailure } from '../../platform/db/start-failure.ts';
import { createVault, type MasterKeys, openMasterKeys, type Vault } from '../../platform/secrets/vault.ts';

/** Writes a new transport key. It opens the secrets of one archive, so it must travel separately from it. */
export async function writeTransportKey(file: string): Promise<MasterKeys> {
  const text = randomBytes(32).toString('hex');
  await writeFile(resolve(file), `${text}\n`, { mode: 0o600, flag: 'wx', flush: true }).catch((error) => {
    throw new StartFailure(`The transport key cannot be written to ${file} (${error.code}): name a new file.`);
  });
  return openMasterKeys({ dataDir: '', masterKey: text });
}

export async function readTransportKey(file: string): Promise<MasterKeys> {
  const text = await readFile(resolve(file), 'utf8').catch((error) => {
    throw new StartFailure(`The transport key ${file} cannot be read (${error.code}).`);
  });
  if (!/^[0-9a-f]{64}\s*$/i.test(text)) {
    throw new StartFailure(`${file} is not the transport key that vestra admin org export has written.`);
  }
  return openMasterKeys({ dataDir: '', masterKey: text.trim() });
}

/** Opens data keys under any of both, and seals them under `to`. */
export const rewrapVault = (from: MasterKeys, to: MasterKeys): Vault =>
  createVault({ current: to.current, byId: (id) => to.byId(id) ?? from.byId(id), rotate: () => null });

/** The import that an org is handed over to. The signature fits no other one. */
export type HandOver = { orgId: string; moveId: string; receipt: string };

const signedText = ({ orgId, moveId, receipt }: HandOver) =>
  Buffer.from(JSON.stringify(['vestra org move', orgId, moveId, receipt]));

export function newHandOverKeys(): { signingKey: Buffer; verifyKey: Buffer } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return {
    signingKey: privateKey.export({ type: 'pkcs8', format: 'der' }),
    verifyKey: publicKey.export({ type: 'spki', format: 'der' }),
  };
}

/** A code never begins with a dash, so that it can be copied behind a flag. */
const prefix = 'code_';

/** The same for the same hand-over, so that the command can be repeated. */
export function signHandOver(signingKey: Buffer, handOver: HandOver): string {
  const key = createPrivateKey({ key: signingKey, type: 'pkcs8', format: 'der' });
  return `${prefix}${sign(null, signedText(handOver), key).toString('base64url')}`;
}

export function isHandOver(verifyKey: Buffer, handOver: HandOver, code: string): boolean {
  const key = createPublicKey({ key: verifyKey, type: 'spki', format: 'der' });
  const signature = Buffer.from(code.trim().slice(prefix.length), 'base64url');
  return (
    key.asymmetricKeyType === 'ed25519' && code.startsWith(prefix) && verify(null, signedText(handOver), key, signature)
  );
}
