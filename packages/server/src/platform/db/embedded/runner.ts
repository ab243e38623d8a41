import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { StartFailure } from '../start-failure.ts';

/**
 * The operating system user that PostgreSQL runs as. It refuses to run as root, so root uses an unprivileged user
 * (`isLent`). Other users run it as themselves.
 */
export type Runner = { uid: number; gid: number; isLent: boolean };

export const isRoot = (): boolean => process.getuid?.() === 0;

/** `owner` is the owner of an existing cluster. Only that user can read its files. */
export async function chooseRunner(owner: { uid: number; gid: number } | undefined): Promise<Runner> {
  if (!isRoot()) return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, isLent: false };
  if (owner && owner.uid !== 0) return { ...owner, isLent: true };
  const passwd = await readFile('/etc/passwd', 'utf8').catch(() => '');
  const unprivileged = userIn(passwd, 'postgres') ?? userIn(passwd, 'nobody');
  if (!unprivileged) {
    throw new StartFailure(
      'PostgreSQL does not run as root, and there is neither a user "postgres" nor "nobody" to run it as: start Vestra as another user, or set DATABASE_URL.',
    );
  }
  return { ...unprivileged, isLent: true };
}

/** The options of `spawn` to run a program as the runner. */
export const asRunner = (runner: Runner): { uid?: number; gid?: number } =>
  runner.isLent ? { uid: runner.uid, gid: runner.gid } : {};

/** The first folder on the path, including `path`, that the runner may not enter. */
export async function closedFolder(path: string, runner: Runner): Promise<string | undefined> {
  if (!runner.isLent) return undefined;
  const folders: string[] = [];
  for (let folder = await realpath(path); ; folder = dirname(folder)) {
    folders.unshift(folder);
    if (folder === dirname(folder)) break;
  }
  for (const folder of folders) {
    if (!(await permits(folder, runner, ENTER))) return folder;
  }
  return undefined;
}

export const READ = 0o4;
export const ENTER = 0o1;

/** Whether the mode bits of `path` give the runner `right`, independent of the rights of this process. */
export async function permits(path: string, runner: Runner, right: number): Promise<boolean> {
  const { mode, uid, gid } = await stat(path);
  const shift = uid === runner.uid ? 6 : gid === runner.gid ? 3 : 0;
  return ((mode >> shift) & right) === right;
}

function userIn(passwd: string, name: string): { uid: number; gid: number } | undefined {
  for (const line of passwd.split('\n')) {
    const [user, , uid, gid] = line.split(':');
    if (user === name && Number(uid) > 0) return { uid: Number(uid), gid: Number(gid) };
  }
  return undefined;
}
