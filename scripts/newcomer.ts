/**
 * Follows the docs as a newcomer does, in empty folders and with the packages alone: Getting started, the README, the
 * five templates with their READMEs, and both SDKs. Prints each command with what it printed, and ends with 1 if one of
 * them fails or prints something else than its page shows. `npm run newcomer`
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { templates } from '@vestra/cli/template';
import manifest from '../package.json' with { type: 'json' };
import {
  type Block,
  blocksOf,
  type Command,
  commandsIn,
  exitCodeOf,
  isTyped,
  placesOf,
  shown,
  withIds,
} from '../tests/support/documented-blocks.ts';
import { programOfSdkPage } from '../tests/support/sdk-program.ts';

const { version } = manifest;
const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
const home = mkdtempSync(join(tmpdir(), 'vestra-newcomer-'));
// The embedded database runs as another user if this one is root.
spawnSync('chmod', ['711', home]);
const shop = folder('shop');
const failures: string[] = [];
const running: Background[] = [];
/** The address of the server, which listens on any free port. */
let url = '';

type Background = { child: ChildProcess; said: () => string };

try {
  pack();
  await gettingStarted();
  for (const { name } of templates) await template(name);
  await readme();
  await typescriptSdk();
  await pythonSdk();
} finally {
  for (const { child } of running.reverse()) await stop(child);
  rmSync(home, { recursive: true, force: true });
}
console.log(failures.length === 0 ? '\nEverything worked.' : `\n${failures.length} failed:\n${failures.join('\n')}`);
process.exitCode = failures.length === 0 ? 0 : 1;

function folder(name: string): string {
  const path = join(home, name);
  mkdirSync(path);
  return path;
}

/** Reuses the packages of `npm run pack` only if this run is told so, since they may be of earlier sources. */
function pack(): void {
  if (process.argv.includes('--packed') && existsSync(join(dist, `vestra-${version}.tgz`))) return;
  const { status, stderr } = spawnSync('npm', ['run', '--silent', 'pack'], { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`npm run pack failed: ${stderr}`);
}

async function gettingStarted(): Promise<void> {
  cpSync(join(dist, `vestra-${version}.tgz`), join(shop, `vestra-${version}.tgz`));
  // The template of the IT desk needs the second line.
  writeFileSync(join(shop, '.env'), 'PORT=0\nVESTRA_ALLOW_PRIVATE_ADDRESSES=1\n');
  await follow('docs/getting-started.md', shop, (block) => block.reason === null && block.title !== '.env');
}

/**
 * The commands that need no clone: the package has the examples. The block that installs it begins again in another
 * empty folder. A test types the set-up commands and `vestra init --file`.
 */
async function readme(): Promise<void> {
  cpSync(join(shop, 'node_modules/vestra/examples'), join(shop, 'examples'), { recursive: true });
  await follow('README.md', shop, ({ code }) => code.includes('examples/research-helper'), /vestra init/);
  const empty = folder('readme');
  cpSync(join(dist, `vestra-${version}.tgz`), join(empty, `vestra-${version}.tgz`));
  writeFileSync(join(empty, '.env'), 'PORT=0\n');
  const before = running.length;
  await follow('README.md', empty, ({ code }) => code.includes('npx vestra start'));
  if (running.length !== before + 1) failures.push('The README has no block that installs the package and starts it.');
  for (const { child } of running.splice(before)) await stop(child);
}

async function template(name: string): Promise<void> {
  await type({ command: `npx vestra init --template ${name}`, shows: [`✔ Wrote ${name}: …`] }, shop);
  const before = running.length;
  await follow(join(shop, name, 'README.md'), shop, ({ code }) => !code.includes('setup voice'));
  await type({ command: `npx vestra test ${name}`, shows: ['Tests: … passed; …'] }, shop);
  for (const { child } of running.splice(before)) await stop(child);
}

async function typescriptSdk(): Promise<void> {
  const cwd = folder('typescript');
  cpSync(join(dist, `vestra-sdk-${version}.tgz`), join(cwd, `vestra-sdk-${version}.tgz`));
  const commands = ['npm init --yes', 'npm pkg set type=module', `npm install ./vestra-sdk-${version}.tgz zod`];
  for (const command of commands) await type({ command, shows: [] }, cwd);
  const page = readFileSync(join(root, 'docs/sdk.md'), 'utf8');
  const [first] = blocksOf(page).filter(({ language }) => language === 'ts');
  // The whole page needs folders and other deployments; sdk-package.test.ts runs it. Here each import must exist.
  const imports = programOfSdkPage()
    .split('\n')
    .filter((line) => /^import .* from '@vestra\/sdk/.test(line));
  writeFileSync(join(cwd, 'imports.ts'), imports.join('\n'));
  writeFileSync(join(cwd, 'first.ts'), `${first?.code ?? ''}\n`);
  await type({ command: 'node imports.ts', shows: [] }, cwd, withKey());
  await type({ command: 'node first.ts', shows: [] }, cwd, withKey());
}

async function pythonSdk(): Promise<void> {
  const cwd = folder('python');
  const python = ['/usr/bin/python3', '/usr/local/bin/python3'].find(existsSync) ?? 'python3';
  const install = `${python} -m pip install -qq --target packages '${join(root, 'packages/python')}[apply]'`;
  const pip = spawnSync(python, ['-m', 'pip', 'download', '--quiet', '--no-deps', '--dest', cwd, 'hatchling'], { cwd });
  if (pip.status !== 0) return console.log('skipped: the Python SDK, because pip reaches no index of packages.');
  await type({ command: install, shows: [] }, cwd);
  const blocks = blocksOf(readFileSync(join(root, 'docs/python.md'), 'utf8')).filter(
    ({ language }) => language === 'python',
  );
  const [first, second] = blocks;
  const setUp = "import os\nAPI_KEY, BASE_URL = os.environ['VESTRA_KEY'], os.environ['VESTRA_URL']\n";
  writeFileSync(join(cwd, 'first.py'), `${setUp}${first?.code}\n${second?.code}`);
  const env = { ...withKey(), PYTHONPATH: join(cwd, 'packages') };
  await type({ command: `${python} first.py`, shows: ['…offline stand-in…'] }, cwd, env);
}

function withKey(): Record<string, string> {
  const { test_key } = JSON.parse(readFileSync(join(shop, '.vestra/credentials.json'), 'utf8')) as { test_key: string };
  return { VESTRA_KEY: test_key, VESTRA_URL: url };
}

/** Types the blocks of a page from top to bottom. */
async function follow(
  page: string,
  cwd: string,
  isFollowed: (block: Block) => boolean,
  skips: RegExp = /^$/,
): Promise<void> {
  console.log(`\n## ${page}`);
  let said = '';
  for (const block of blocksOf(readFileSync(resolve(root, page), 'utf8')).filter(isFollowed)) {
    if (block.title !== null) writeFileSync(join(cwd, block.title), block.code);
    else if (block.words.includes('background') || block.code.startsWith('$ node ')) await startTyped(block, cwd);
    else if (isTyped(block))
      for (const { command, shows } of commandsIn(block)) {
        if (skips.test(command)) continue;
        if (command === 'npx vestra start') {
          await start({ command, shows: ['Vestra … is running at http://127.0.0.1:…'] }, cwd);
          continue;
        }
        for (const isAtTerminal of placesOf(block))
          said += await type({ command: withIds(command, said), shows }, cwd, {}, isAtTerminal);
      }
  }
}

/** Nothing of the repository: a Node, the system, and an empty home. */
function environment(more: Record<string, string>): NodeJS.ProcessEnv {
  return {
    PATH: [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter),
    HOME: home,
    npm_config_prefer_offline: 'true',
    npm_config_audit: 'false',
    ...(url && { VESTRA_URL: url }),
    ...more,
  };
}

/**
 * Installers keep the settings of this machine, which may name another registry. Other settings come from the repository's
 * `.npmrc` through `npm run`, and no newcomer has them.
 */
function registrySettings(command: string): NodeJS.ProcessEnv {
  if (!/^npm |-m pip /.test(command)) return {};
  const settings = Object.entries(process.env).filter(([name]) =>
    /^(HOME$|npm_config_(registry|cache|userconfig|globalconfig|cafile|\w*proxy)$|pip_)/i.test(name),
  );
  return Object.fromEntries(settings);
}

/** Types a command and compares what it prints with its page. */
async function type(
  { command, shows }: Command,
  cwd: string,
  more: Record<string, string> = {},
  isAtTerminal = false,
): Promise<string> {
  console.log(`$ ${command}`);
  // `script` is a terminal.
  const typed = isAtTerminal ? `script -qec '${command}' /dev/null < /dev/null` : command;
  const child = spawn('bash', ['--norc', '-euo', 'pipefail', '-c', typed], {
    cwd,
    env: { ...environment(more), ...registrySettings(command) },
  });
  const said = collected(child);
  const [code] = await once(child, 'close');
  const text = said().replaceAll('\r', '');
  console.log(text.replace(/^/gm, '  '));
  const expected = exitCodeOf({ command, shows });
  const missing = shows.filter((line) => !shown(line.replace(/127\.0\.0\.1:4600/, '…')).test(text));
  if (code !== expected) failures.push(`\`${command}\` ended with ${code} and not ${expected}: ${text}`);
  // Nothing after it can work.
  if (code !== expected && command.startsWith('npm install')) throw new Error(failures.at(-1));
  if (missing.length > 0) failures.push(`\`${command}\` did not print ${JSON.stringify(missing)}: ${text}`);
  if (/\n\s+at .+:\d+:\d+/.test(text)) failures.push(`\`${command}\` printed a stack: ${text}`);
  return text;
}

async function startTyped(block: Block, cwd: string): Promise<void> {
  const [command] = commandsIn(block);
  await start(command ?? { command: '', shows: [] }, cwd);
}

/** Starts a command that runs on, and waits until it has printed what its page shows. */
async function start({ command, shows }: Command, cwd: string): Promise<void> {
  console.log(`$ ${command} &`);
  const child = spawn('bash', ['--norc', '-c', `exec ${command}`], { cwd, env: environment({}), detached: true });
  const said = collected(child);
  running.push({ child, said });
  const isShown = () => shows.every((line) => shown(line.replace(':4600', ':…')).test(said()));
  while (!isShown() && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 50));
  console.log(said().replace(/^/gm, '  '));
  url ||= /is running at (http:\S+)/.exec(said())?.[1] ?? '';
  if (!isShown()) failures.push(`\`${command}\` ended with ${child.exitCode}: ${said()}`);
}

function collected(child: ChildProcess): () => string {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (text += chunk));
  return () => text;
}

/** npx starts further processes: all of its group get the signal. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, 'close');
  process.kill(-child.pid, 'SIGTERM');
  await ended;
}
