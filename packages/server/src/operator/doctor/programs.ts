import { existsSync } from 'node:fs';
import { browserObstacle, chooseHost } from '../../computers/index.ts';
import type { Config } from '../../platform/config/config.ts';
import { findPackage } from '../../platform/db/embedded/binaries.ts';
import { StartFailure } from '../../platform/db/start-failure.ts';
import { findGroup } from '../../platform/sandbox/cgroups.ts';
import { missingPackages } from '../../voice/index.ts';
import { bad, type Finding, ok, warn } from './finding.ts';

const oldestNode = 22;

export function nodeFinding(version = process.versions.node): Finding {
  const isOld = Number(version.split('.')[0]) < oldestNode;
  return isOld ? bad('node', `Node ${version}`, `Install Node ${oldestNode} or newer.`) : ok('node', `Node ${version}`);
}

/** What the server starts beside itself, and what agents find on a computer. */
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
          gvisor(),
        ]),
    voiceFinding(voice),
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
  const said: string[] = [];
  const log = { warn: (line: string) => said.push(line), error: (line: string) => said.push(line) };
  // It would divide the group that this command was started in.
  const { host } = await chooseHost({ setting, allowPrivate, cgroup: 'off', log: log as never });
  const [line] = said;
  if (line === undefined) return ok('computers', working[host?.kind ?? 'elsewhere']);
  const [what, remedy = 'Run npm run setup:system.'] = line.split(/[;:] (?=install)/);
  return (host === null ? bad : warn)('computers', what as string, remedy);
}

/** What `own` is to the server this command does not know. */
async function limitsFinding(setting: Config['computer']['cgroup']): Promise<Finding> {
  if (setting === 'own') return ok('limits', 'the server says at its start whether it may divide its cgroup');
  const found = await findGroup(setting);
  return ok(
    'limits',
    typeof found === 'string'
      ? `the server holds the limits of computers by looking: ${found}`
      : `the kernel holds the limits of computers too, in ${found.folder} (${found.controllers.join(', ')})`,
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

function voiceFinding({ folder, realtime }: Config['voice']): Finding {
  const isMissing = missingPackages(folder, realtime ? 'elsewhere' : 'offline') !== null;
  const how = realtime ? `speech by ${realtime.model}` : 'speech from packages';
  return ok('voice', isMissing ? 'not set up, and not needed unless sessions talk (vestra setup voice)' : how);
}

function gvisor(): Finding {
  const isThere = ['/usr/bin/runsc', '/usr/local/bin/runsc'].some((file) => existsSync(file));
  return ok(
    'gvisor',
    isThere ? 'runsc is installed' : 'runsc is not installed, and not needed unless gVisor is wanted',
  );
}
