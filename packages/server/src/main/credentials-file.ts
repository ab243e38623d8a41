import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Logger } from 'pino';
import type { Credentials } from './provisioning/create-org.ts';

/** What the first start leaves for its owner alone, and where the server of this folder listened last. */
type Kept = Credentials & { url?: string };

const fileIn = (dataDir: string): string => join(dataDir, 'credentials.json');

/** Its path as one would type it here. */
export const credentialsPath = (dataDir: string): string => {
  const path = relative(process.cwd(), fileIn(dataDir));
  return path.startsWith('..') ? fileIn(dataDir) : path;
};

export function writeCredentials(dataDir: string, credentials: Kept): void {
  const file = fileIn(dataDir);
  writeFileSync(`${file}.new`, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
}

/**
 * Notes where this server listens, so that a command in the same folder finds it on whatever port. Who has deleted the
 * file, or put something else in its place, keeps it so.
 */
export function noteAddress(dataDir: string, url: string, log: Logger): void {
  try {
    const kept = JSON.parse(readFileSync(fileIn(dataDir), 'utf8')) as Kept;
    if (typeof kept?.test_key !== 'string' || kept.url === url) return;
    writeCredentials(dataDir, { ...kept, url });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    log.warn({ err: error }, 'credentials.json could not be given the address of this server');
  }
}
