import { access, constants } from 'node:fs/promises';
import type { Logger } from 'pino';
import type { Identity } from '../sandbox/confine.ts';
import { spawnConfined } from '../sandbox/spawn-confined.ts';
import { createBubblewrap } from './bubblewrap.ts';
import { joinCaptured } from './capture.ts';
import type { ComputerHost } from './computer-host.ts';
import { createJustBash } from './just-bash.ts';
import { unusedAccount } from './place.ts';
import { runToEnd } from './run-to-end.ts';

/** What computers are made of here, or why there are none. */
export type HostChoice = { host: ComputerHost } | { host: null; why: string };

export type HostSetting = 'bubblewrap' | 'just-bash' | 'elsewhere' | 'off';

/** Found out once, at the start. One line says what is missing. */
export async function chooseHost(of: {
  /** Null: the best that works. */
  setting: HostSetting | null;
  allowPrivate: boolean;
  log: Pick<Logger, 'warn' | 'error'>;
  /** Why bubblewrap cannot be used; null where it can. */
  findObstacle?: () => Promise<string | null>;
}): Promise<HostChoice> {
  const { setting, allowPrivate, log, findObstacle = () => obstacleOf(unusedAccount()) } = of;
  if (setting === 'off') return { host: null, why: 'Computers are switched off on this server.' };
  if (setting === 'elsewhere') return { host: null, why: 'Computers are awake in other processes of this server.' };
  if (setting === 'just-bash') return { host: createJustBash() };
  const obstacle = await findObstacle();
  if (obstacle === null) {
    const missing = await missingPrograms(['socat', 'git']);
    if (missing.length > 0) {
      log.warn(`computers lack ${missing.join(' and ')}: install ${missing.join(' and ')} (npm run setup:system)`);
    }
    return { host: createBubblewrap({ allowPrivate, hasNetwork: !missing.includes('socat'), log }) };
  }
  const remedy = 'install bubblewrap, socat and git (npm run setup:system) and let the server make user namespaces';
  if (setting === 'bubblewrap') {
    log.error(`computers are unavailable: ${obstacle}; ${remedy}`);
    return { host: null, why: 'The server cannot confine programs: bubblewrap is missing or not permitted.' };
  }
  log.warn(`computers run on just-bash, without programs of the system and without network: ${obstacle}; ${remedy}`);
  return { host: createJustBash() };
}

async function obstacleOf(identity: Identity | null): Promise<string | null> {
  const missing = await missingPrograms(['bwrap', 'prlimit']);
  if (missing.length > 0) return `${missing.join(' and ')} is not installed`;
  const nothing = {
    mounts: [],
    env: {},
    workingFolder: '/',
    egressSocket: null,
    limits: { processes: 16, fileBytes: 1024, memoryBytes: null },
    identity,
  };
  try {
    const child = spawnConfined(['/bin/true'], nothing, { input: null });
    const limits = { timeoutMs: 10_000, signal: new AbortController().signal, maxBytes: 2000 };
    const { exitCode, stderr } = await runToEnd(child, limits);
    if (exitCode === 0) return null;
    const [line = ''] = Buffer.from(joinCaptured(stderr, () => ''))
      .toString('utf8')
      .trim()
      .split('\n');
    return `bubblewrap is not permitted here (${line.slice(0, 200)})`;
  } catch (error) {
    return `bubblewrap cannot be started (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`;
  }
}

async function missingPrograms(names: readonly string[]): Promise<string[]> {
  const isThere = await Promise.all(
    names.map((name) =>
      Promise.any(
        ['/usr/bin', '/usr/local/bin', '/bin'].map((folder) => access(`${folder}/${name}`, constants.X_OK)),
      ).then(
        () => true,
        () => false,
      ),
    ),
  );
  return names.filter((_, at) => !isThere[at]);
}
