import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { browserObstacle, chooseHost } from '../../computers/index.ts';
import type { Config } from '../../platform/config/config.ts';
import { findPackage } from '../../platform/db/embedded/binaries.ts';
import { StartFailure } from '../../platform/db/start-failure.ts';
import { withFiles } from '../../platform/files/open-files.ts';
import { findGroup } from '../../platform/sandbox/cgroups.ts';
import { createCallConnections, missingPackages } from '../../voice/index.ts';
import { bad, type Finding, ok, warn } from './finding.ts';

const oldestNode = 22;

export function nodeFinding(version = process.versions.node): Finding {
  const isOld = Number(version.split('.')[0]) < oldestNode;
  return isOld ? bad('node', `Node ${version}`, `Install Node ${oldestNode} or newer.`) : ok('node', `Node ${version}`);
}

/** Checks the programs that the server starts, and those that agents use on a computer. */
export async function programFindings({
  computer,
  chromium,
  allowPrivateAddresses,
  databaseUrl,
  voice,
}: Config): Promise<Finding[]> {
  return [
    ...(databaseUrl === null ? [embeddedFinding()] : []),
    ...(computer.setting === 'off'
      ? [ok('computers', 'switched off by VESTRA_COMPUTER=off')]
      : [
          await computerFinding(computer.setting, allowPrivateAddresses),
          await limitsFinding(computer.cgroup),
          await browserFinding(chromium),
          ...documentTools(),
          gvisorFinding(),
        ]),
    await voiceFinding(voice),
  ];
}

function embeddedFinding(): Finding {
  try {
    findPackage();
    return ok('database', 'the embedded PostgreSQL is installed');
  } catch (error) {
    if (!(error instanceof StartFailure)) throw error;
    return bad(
      'database',
      'there is no embedded PostgreSQL for this system',
      'Set DATABASE_URL, or install with optional packages.',
    );
  }
}

async function computerFinding(setting: Config['computer']['setting'], allowPrivate: boolean): Promise<Finding> {
  const messages: string[] = [];
  const log = { warn: (line: string) => messages.push(line), error: (line: string) => messages.push(line) };
  // Otherwise the check would divide the cgroup in which this command was started.
  const { host } = await chooseHost({ setting, allowPrivate, cgroup: 'off', log: log as never });
  const [line] = messages;
  if (line === undefined) return ok('computers', working[host?.kind ?? 'elsewhere']);
  const [what, remedy = 'Run npm run setup:system.'] = line.split(/[;:] (?=install)/);
  return (host === null ? bad : warn)('computers', what as string, remedy);
}

/** This command runs in another cgroup than the server, so it cannot check `own`. */
async function limitsFinding(setting: Config['computer']['cgroup']): Promise<Finding> {
  if (setting === 'own') return ok('limits', 'the server says at its start whether it may divide its cgroup');
  const found = await findGroup(setting);
  return ok(
    'limits',
    typeof found === 'string'
      ? `the server enforces the limits of computers by itself, because ${found}`
      : `the kernel enforces the limits of computers too, in ${found.folder} (${found.controllers.join(', ')})`,
  );
}

const working = {
  bubblewrap: 'bubblewrap, socat and git work',
  gvisor: 'gVisor, bubblewrap, socat and git work',
  'just-bash': 'just-bash',
  elsewhere: 'they are awake in other processes',
} as const;

async function browserFinding(chromium: string): Promise<Finding> {
  const obstacle = await browserObstacle(chromium);
  return obstacle === null
    ? ok('browsers', chromium)
    : warn('browsers', obstacle, 'Run npm run setup:system, or do without browsers.');
}

const tools = [
  ['python3', '/usr/bin/python3'],
  ['poppler-utils', '/usr/bin/pdftotext'],
  ['python3-docx', '/usr/lib/python3/dist-packages/docx'],
  ['python3-openpyxl', '/usr/lib/python3/dist-packages/openpyxl'],
  ['python3-reportlab', '/usr/lib/python3/dist-packages/reportlab'],
  ['python3-pypdf', '/usr/lib/python3/dist-packages/pypdf'],
] as const;

function documentTools(): Finding[] {
  const missing = tools.filter(([, file]) => !existsSync(file)).map(([name]) => name);
  if (missing.length === 0) return [ok('documents', 'what agents write documents with is installed')];
  return [
    warn(
      'documents',
      `agents lack ${missing.join(', ')}`,
      'Run npm run setup:system, or install them: without, agents make no Office or PDF files.',
    ),
  ];
}

async function voiceFinding({ folder, realtime, network, isConfined }: Config['voice']): Promise<Finding> {
  const isMissing = missingPackages(folder, realtime ? 'elsewhere' : 'offline') !== null;
  if (isMissing) return ok('voice', 'not set up. Only voice calls need it (vestra setup voice)');
  const obstacle = await createCallConnections({ folder, network, isConfined }).obstacle();
  if (obstacle !== null) return warn('voice', obstacle, 'Run npm run setup:system, or do without calls.');
  const how = realtime ? `speech by ${realtime.model}` : 'speech from packages';
  return isConfined
    ? ok('voice', how)
    : warn('voice', `${how}; calls run without a sandbox`, 'Unset VESTRA_VOICE_SANDBOX.');
}

function gvisorFinding(): Finding {
  const isThere = ['/usr/bin/runsc', '/usr/local/bin/runsc'].some((file) => existsSync(file));
  return ok(
    'gvisor',
    isThere ? 'runsc is installed' : 'runsc is not installed, and not needed unless gVisor is wanted',
  );
}

const gigabyte = 1024 ** 3;

/** Checks that the data folder is writable and has space, and that others cannot read its secrets. */
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
  const is = place === dataDir ? dataDir : `${dataDir} (created at the first start)`;
  return [
    spaceFinding(place, is),
    ...['master-key', 'credentials.json', 'postgres.url'].flatMap((name) => secretFile(join(dataDir, name))),
  ];
}

function spaceFinding(place: string, is: string): Finding {
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

/** If files are in a bucket, checks that it exists and accepts the keys. */
export async function fileFindings(config: Config): Promise<Finding[]> {
  const { s3 } = config.files;
  if (s3 === null) return [];
  const place = `s3://${s3.bucket}/${s3.prefix}`;
  // Ask for a file that does not exist, as the server does when it starts.
  const fault = await withFiles(config, (files) => files.has('start', 'start')).then(
    () => null,
    (error: Error) => error.message,
  );
  if (fault === null) return [ok('files', `${place} answers`)];
  return [bad('files', `${place}: ${fault}`, 'Check VESTRA_FILES, its keys and the network.')];
}
