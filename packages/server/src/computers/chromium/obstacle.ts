import { access, constants } from 'node:fs/promises';

const folders = ['/usr/bin', '/usr/local/bin', '/bin'];

/** Why browsers cannot run on this machine, and what to do; null where they can. */
export async function browserObstacle(executable: string): Promise<string | null> {
  if (!(await isProgram(executable))) {
    return `There is no browser at ${executable}. Install chromium-headless-shell, or set VESTRA_CHROMIUM.`;
  }
  for (const name of ['bwrap', 'socat', 'prlimit']) {
    const found = await Promise.all(folders.map((folder) => isProgram(`${folder}/${name}`)));
    if (!found.includes(true)) return `A browser runs confined, for which ${name} is missing on the server.`;
  }
  return null;
}

const isProgram = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
