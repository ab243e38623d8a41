import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { startScriptedModelServer } from '@vestra/models/testing/scripted-server';
import { startEmbeddedPostgres } from '@vestra/server/platform/db/embedded';
import { playUpgrade } from '../tests/upgrades/rolling-upgrade.ts';

/**
 * Builds the previous release from git, starts it, lets this version migrate its database and uses both at once. Ends
 * with 1 if a request failed. `node scripts/try-upgrade.ts [<commit, tag or branch>]`
 */
const root = join(import.meta.dirname, '..');
const recorded = JSON.parse(readFileSync(join(root, 'tests/upgrades/previous-release.json'), 'utf8'));
const ref: string = process.argv[2] ?? recorded.commit;

if (!isInClone(ref)) {
  process.stdout.write(`skipped: this clone does not contain ${ref}. Fetch the whole history to try an upgrade.\n`);
  process.exit(0);
}
const folder = mkdtempSync(join(tmpdir(), 'vestra-upgrade-'));
await chmod(folder, 0o755);
const children: ChildProcess[] = [];
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

const previous = checkOut(ref);
const postgres = await startEmbeddedPostgres({
  dataDir: createFolder('database'),
  log: () => {},
  readyMade: null,
  settings: { max_connections: '200' },
});
// Each version has the model server of its own tests: the one of this version refuses what earlier versions sent.
const models = await Promise.all([previous, root].map(startModel));
const failed = await play().finally(async () => {
  await Promise.all(children.map(end));
  await postgres.stop();
  for (const { close } of models) await close();
});
for (const sentence of failed) process.stdout.write(`FAILED ${sentence}\n`);
process.stdout.write(failed.length === 0 ? 'Both versions answered every request.\n' : `${failed.length} failures.\n`);
rmSync(folder, { recursive: true, force: true });
process.exit(failed.length === 0 ? 0 : 1);

async function play(): Promise<string[]> {
  const before = await start(previous, 'before');
  process.stdout.write(`${ref} runs\n`);
  const { test_key: key } = JSON.parse(readFileSync(join(folder, 'before/credentials.json'), 'utf8'));
  const upgrade = await playUpgrade({ before, key });
  const now = await start(root, 'now');
  process.stdout.write('this version has migrated the database\n');
  return upgrade.continueWith(now);
}

/** A shallow clone has no earlier release. */
function isInClone(commit: string): boolean {
  return spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: root, stdio: 'ignore' }).status === 0;
}

/** The files of a commit, with the packages that are installed here. Only its own packages are its own. */
function checkOut(commit: string): string {
  const place = createFolder('previous');
  const archive = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 2 ** 30 });
  execFileSync('tar', ['-x', '-C', place], { input: archive });
  const modules = join(place, 'node_modules');
  mkdirSync(join(modules, '@vestra'), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name !== '@vestra') symlinkSync(join(root, 'node_modules', name), join(modules, name));
  }
  for (const name of readdirSync(join(place, 'packages'))) {
    symlinkSync(join(place, 'packages', name), join(modules, '@vestra', name));
  }
  return place;
}

/** A server whose database does not answer in time ends. It is started again, as a service manager would. */
async function start(source: string, name: string): Promise<string> {
  const dataDir = createFolder(name);
  for (let attempt = 1; ; attempt++) {
    const { url, output } = await startOnce(source, dataDir);
    if (url !== null) return url;
    if (attempt === 5) throw new Error(`The server of ${name} ended: ${output}`);
  }
}

async function startOnce(source: string, dataDir: string): Promise<{ url: string | null; output: string }> {
  const child = spawn(process.execPath, [join(source, 'packages/server/src/main/main.ts')], {
    cwd: source,
    env: {
      PATH: process.env.PATH ?? '',
      PORT: '0',
      DATABASE_URL: postgres.connectionString,
      VESTRA_DATA_DIR: dataDir,
      NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/upgrade'),
      VESTRA_MASTER_KEY: 'ab'.repeat(32),
      VESTRA_ASK_FOR_MODELS: '0',
      VESTRA_ALLOW_PRIVATE_ADDRESSES: '1',
      OPENAI_COMPATIBLE_BASE_URL: models[source === root ? 1 : 0]?.baseUrls.compatible ?? '',
      OPENAI_COMPATIBLE_MODELS: 'scripted',
      VESTRA_DEFAULT_MODEL: 'compatible/scripted',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  for (;;) {
    const url = /is running at (http:\S+)\r?\n/.exec(output)?.[1];
    if (url || child.exitCode !== null) return { url: url ?? null, output };
    await sleep(50);
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

function createFolder(name: string): string {
  const place = join(folder, name);
  mkdirSync(place, { mode: 0o711 });
  return place;
}

async function startModel(source: string) {
  const file = join(source, 'packages/models/src/testing/scripted-server.ts');
  const { startScriptedModelServer: start } = (await import(file)) as {
    startScriptedModelServer: typeof startScriptedModelServer;
  };
  return start({ respond: ({ messages }) => answerTo(JSON.stringify(messages)) });
}

/** Asks the person if their message says so, and otherwise answers at once. */
function answerTo(messages: string) {
  const isAsking = messages.includes('Ask me.') && !messages.includes('Which size?');
  const question = { name: 'ask_question', arguments: { question: 'Which size?', options: ['S', 'M'] } };
  return isAsking ? { calls: [question] } : { text: 'Done.' };
}
