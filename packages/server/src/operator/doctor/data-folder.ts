import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Config } from '../../platform/config/config.ts';
import { bad, type Finding, ok, warn } from './finding.ts';

const gigabyte = 1024 ** 3;

/** Whether the data folder can be written and has room, and whether others can read what is secret in it. */
export function dataFolderFindings({ dataDir }: Config): Finding[] {
  const place = existing(dataDir);
  if (!isWritable(place)) {
    return [
      bad(
        'data folder',
        `${dataDir} cannot be written by this user`,
        'Give it to the user that runs the server, or set VESTRA_DATA_DIR.',
      ),
    ];
  }
  const is = place === dataDir ? dataDir : `${dataDir} (made at the first start)`;
  return [
    roomFinding(place, is),
    ...['master-key', 'credentials.json', 'postgres.url'].flatMap((name) => secretFile(join(dataDir, name))),
  ];
}

function roomFinding(place: string, is: string): Finding {
  const { bavail, blocks, bsize } = statfsSync(place);
  const free = bavail * bsize;
  const what = `${is} is writable, with ${(free / gigabyte).toFixed(1)} GB free`;
  if (free < gigabyte / 2) return bad('data folder', what, 'Make room: a full disk stops the embedded database.');
  if (free < 5 * gigabyte && bavail / blocks < 0.1)
    return warn('data folder', what, 'Make room, or move to a larger disk.');
  return ok('data folder', what);
}

function secretFile(file: string): Finding[] {
  if (!existsSync(file)) return [];
  const mode = statSync(file).mode & 0o777;
  if ((mode & 0o077) === 0) return [ok('data folder', `${file} is closed to others`)];
  return [bad('data folder', `${file} can be read by others (mode ${mode.toString(8)})`, `chmod 600 ${file}`)];
}

function existing(folder: string): string {
  let at = folder;
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  return at;
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
