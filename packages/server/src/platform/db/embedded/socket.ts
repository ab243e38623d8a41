import { createHash } from 'node:crypto';
import { chown, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartFailure } from '../start-failure.ts';
import { isPrivateTo } from './place.ts';
import { closedFolder, type Runner } from './runner.ts';

const SOCKET_FILE = '.s.PGSQL.5432';

/** The operating system cuts the path of a socket here: 108 bytes on Linux and 104 on macOS, with the closing zero. */
const LONGEST_SOCKET_PATH = process.platform === 'darwin' ? 103 : 107;

/** The cluster's own folder, or a short one under the temporary folder when the path would be cut. */
export async function chooseSocketFolder(cluster: string, runner: Runner): Promise<string> {
  if (canHoldSocket(cluster)) return cluster;
  const name = `vestra-${createHash('sha256').update(cluster).digest('hex').slice(0, 16)}`;
  for (const parent of [tmpdir(), '/tmp']) {
    const folder = join(parent, name);
    if (!canHoldSocket(folder) || (await closedFolder(parent, runner).catch(() => parent))) continue;
    await mkdir(folder, { mode: 0o700 }).then(
      () => (runner.isLent ? chown(folder, runner.uid, runner.gid) : undefined),
      () => undefined,
    );
    if (await isPrivateTo(folder, runner.uid)) return folder;
  }
  throw new StartFailure(
    `The path ${cluster} is too long for a socket, and no folder for it can be made in ${tmpdir()}: set VESTRA_DATA_DIR to a shorter path.`,
  );
}

/** A quote or a control character could not be written in the setting that takes the folder. */
function canHoldSocket(folder: string): boolean {
  return Buffer.byteLength(join(folder, SOCKET_FILE)) <= LONGEST_SOCKET_PATH && !/["\\\p{Cc}]/u.test(folder);
}
