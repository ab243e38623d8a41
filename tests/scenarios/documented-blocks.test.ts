import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { run } from '@vestra/cli/run';
import { keptTerminal, runHere } from '@vestra/cli/terminal.fixture';
import { deploymentFile } from '@vestra/contract/deployment-file';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { runCli } from '../support/cli.ts';
import {
  type Block,
  blocksOf,
  commandsIn,
  exitCodeOf,
  isProgram,
  isTyped,
  placesOf,
  shown,
  withIds,
} from '../support/documented-blocks.ts';
import { readCredentials, type ServerProcess, startProcess } from '../support/process.ts';
import type { ApiResponse } from '../support/server.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

const root = join(import.meta.dirname, '../..');
/** The examples first: what they show is what comes of a first apply. Then the page that shows what a new org has. */
const pages = [
  ...globSync('examples/*/README.md', { cwd: root }).sort(),
  'docs/users-and-money.md',
  'README.md',
  ...globSync('docs/*.md', { cwd: root, exclude: ['docs/users-and-money.md'] }).sort(),
];

/** Commands for which this is the wrong place, and where the right one is. */
const elsewhere: [RegExp, string][] = [
  [/^npm install && npm (start|test)$/, 'this process was started by one of them'],
  [/^npx vitest run tests\/scenarios\/example-conversations\.test\.ts -t [\w-]+$/, 'is a test'],
  [/^npx vestra admin (?!credit)/, 'operator.test.ts'],
  [/^npm (init|pkg|install) |^npx vestra start$/, 'package.test.ts'],
  [/^npx vestra init /, 'the interview below'],
  [/^vestra models try /, 'cli-models-try.test.ts, against a rule server'],
];

/** Separate programs run the blocks of these pages. */
const tried: Record<string, string> = {
  'docs/getting-started.md': 'package.test.ts, from an empty folder',
  'docs/python.md': 'python-sdk.test.ts; what it installs, npm run build:python',
  'docs/sdk.md': 'sdk-package.test.ts, all in one program',
  'docs/production.md': 'npm run production:try and image:try',
};

type Body = ApiResponse['body'];

let folder: string;
let database: TestDatabase;
let server: ServerProcess;
let key: string;
beforeAll(async () => {
  // A folder as a fresh clone is, with everything of the repository in it and no data.
  folder = await mkdtemp(join(tmpdir(), 'vestra-documented-'));
  for (const name of ['examples', 'node_modules', 'packages', 'package.json'])
    await symlink(join(root, name), join(folder, name));
  await mkdir(join(folder, '.vestra'));
  database = await createTestDatabase();
  server = await startProcess(join(folder, '.vestra'), { DATABASE_URL: database.connectionString });
  key = (await readCredentials(join(folder, '.vestra'))).test_key;
});
afterAll(async () => {
  await server?.kill('SIGTERM');
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

/** Typed by somebody who has set nothing but where the server listens. */
const env = () => ({ PATH: process.env.PATH ?? '', HOME: folder, XDG_CONFIG_HOME: folder, VESTRA_URL: server.url });

/** The pages after it talk to the shop that getting-started.md describes. */
let shop: Promise<void> | undefined;
async function applyShop(): Promise<void> {
  const block = blocksOf(readFileSync(join(root, 'docs/getting-started.md'), 'utf8')).find(
    ({ title }) => title === 'service.yaml',
  );
  const response = await fetch(`${server.url}/v1/deployments/shop?promote=no`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(parse(block?.code ?? '')),
  });
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
}

/** Each page is followed in a separate folder with the keys, the examples and the installed packages. */
async function folderOf(page: string): Promise<string> {
  if (!page.startsWith('docs/')) return folder;
  shop ??= applyShop();
  await shop;
  const own = join(folder, basename(page, '.md'));
  await mkdir(join(own, 'node_modules/vestra'), { recursive: true });
  for (const name of ['examples', '.vestra']) await symlink(join(folder, name), join(own, name));
  for (const name of ['@vestra', '@a2a-js', '@ag-ui', 'openai', 'zod', 'standardwebhooks'])
    await symlink(join(root, 'node_modules', name), join(own, 'node_modules', name));
  // The package as `npm run pack` makes it, which package.test.ts tries, in the form of its sources.
  await symlink(join(root, 'packages/sdk/src'), join(own, 'node_modules/vestra/sdk'));
  const manifest = { name: 'vestra', type: 'module', exports: { './sdk': './sdk/index.ts' } };
  await writeFile(join(own, 'node_modules/vestra/package.json'), JSON.stringify(manifest));
  await writeFile(join(own, 'package.json'), JSON.stringify({ type: 'module' }));
  return own;
}

type Said = { code: number; said: string };

async function type(command: string, cwd: string, isInteractive = false): Promise<Said> {
  const [, words] = /^(?:npx )?vestra (.*)$/s.exec(command) ?? [];
  if (words === undefined) return inShell(command, cwd);
  if (/^(admin|doctor|setup) /.test(words)) {
    // These take the place of the process that they are typed in.
    const { code, out, err } = await runCli(wordsOf(words), {
      cwd,
      env: { ...env(), DATABASE_URL: database.connectionString, VESTRA_DATA_DIR: join(folder, '.vestra') },
    });
    return { code, said: out + err };
  }
  // Without the second that `npx` takes each time.
  const { code, out, err } = await runHere(wordsOf(words), { cwd, env: env(), isInteractive });
  return { code, said: out + err };
}

const wordsOf = (line: string) =>
  [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    (match) => match.slice(1).find((each) => each !== undefined) ?? '',
  );

async function inShell(command: string, cwd: string): Promise<Said> {
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter);
  const shell = { cwd, env: { ...env(), PATH: path, VESTRA_KEY: key } };
  return promisify(execFile)('bash', ['--norc', '-euo', 'pipefail', '-c', `${strictCurl}\n${command}`], shell).then(
    ({ stdout, stderr }) => ({ code: 0, said: stdout + stderr }),
    ({ code, stdout, stderr }) => ({ code, said: stdout + stderr }),
  );
}

/** One that fails where the server refuses, so that a page whose request is refused fails too. */
const strictCurl = 'curl() { command curl --fail-with-body --silent --show-error "$@"; }';

/** A background command that runs to the end of its page. */
type Running = { stop: () => Promise<unknown> };

/** Follows the blocks of a page from top to bottom. */
async function follow(page: string): Promise<number> {
  const cwd = await folderOf(page);
  const running: Running[] = [];
  let said = '';
  let program = '';
  let done = 0;
  try {
    for (const block of blocksOf(readFileSync(join(root, page), 'utf8'))) {
      if (block.reason !== null) continue;
      const here = { ...block, code: block.code.replaceAll('http://127.0.0.1:4600', server.url) };
      if (here.title !== null) {
        await mkdir(dirname(join(cwd, here.title)), { recursive: true });
        await writeFile(join(cwd, here.title), here.code);
      } else if (here.words.includes('background')) running.push(await start(page, here, cwd));
      else if (isTyped(here)) said = await typeAll(page, here, cwd, said);
      else if (isProgram(here)) {
        program = here.words.includes('continued') ? program + here.code : here.code;
        await runProgram(page, here, program, cwd);
      } else continue;
      done += 1;
    }
  } finally {
    await Promise.all(running.map(({ stop }) => stop()));
  }
  return done;
}

async function typeAll(page: string, block: Block, cwd: string, saidBefore: string): Promise<string> {
  let all = saidBefore;
  const typed = commandsIn(block).flatMap((each) =>
    placesOf(block).map((isInteractive) => ({ ...each, isInteractive })),
  );
  for (const { command, shows, isInteractive } of typed) {
    if (elsewhere.some(([pattern]) => pattern.test(command))) continue;
    const { code, said } = await type(withIds(command, all), cwd, isInteractive);
    all += said;
    const expected = [page, block.line, command, exitCodeOf({ command, shows }), expect.any(String)];
    expect([page, block.line, command, code, said]).toEqual(expected);
    for (const line of shows) expect(said).toMatch(shown(line));
    if (said.includes('Tests:')) expect(said).toContain('judged by the offline stand-in (word match)');
    // Interactions and function results are printed without the stand-in's notice.
    if (page.endsWith('README.md') && command.includes(' ask ') && !said.includes('vestra answer '))
      expect(said).toContain('offline stand-in');
  }
  return all;
}

/** Starts a command of the block in this process, and resolves when it has printed the text that the page shows. */
async function start(page: string, block: Block, cwd: string): Promise<Running> {
  const [{ command, shows } = { command: '', shows: [] }] = commandsIn(block);
  if (elsewhere.some(([pattern]) => pattern.test(command))) return { stop: async () => {} };
  const { terminal, said } = keptTerminal({ cwd, env: env() });
  const stopping = new AbortController();
  const ended = run(wordsOf(command.replace(/^(npx )?vestra /, '')), { ...terminal, signal: stopping.signal });
  const isShown = () => shows.every((line) => shown(line).test(said.out + said.err));
  for (const deadline = Date.now() + 30_000; !isShown(); ) {
    if (Date.now() > deadline) throw new Error(`${page}:${block.line} never showed that: ${said.out}${said.err}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    stop: () => {
      stopping.abort();
      return ended;
    },
  };
}

async function runProgram(page: string, block: Block, source: string, cwd: string): Promise<void> {
  const file = `block-${block.line}.${block.language}`;
  await writeFile(join(cwd, file), source);
  const { code, said } = await inShell(`node ${file}`, cwd);
  expect([page, block.line, code, said]).toEqual([page, block.line, 0, expect.any(String)]);
}

/** A block that is only shown must parse, and a part of a deployment file must be valid. */
function assertReadable(page: string, { language, code, line, title }: Block): void {
  if (language === 'json') expect(() => JSON.parse(code), `${page}:${line}`).not.toThrow();
  if (language !== 'yaml') return;
  const read = parse(code);
  if (typeof read !== 'object' || read === null) return;
  const isOfDeployment = title === 'service.yaml' || ['tools', 'tests', 'routines'].some((field) => field in read);
  if (!isOfDeployment) return;
  const { error } = deploymentFile.safeParse({ name: 'page', instructions: 'Help.', ...read });
  expect([page, line, error?.issues ?? []]).toEqual([page, line, []]);
}

describe('a documented block is a tested block', () => {
  it.each(pages.filter((page) => !(page in tried) && hasRun(page)))(
    'of %s, on a fresh machine with no key and no secret [OFF-104, OPS-215, GUIDE-009]',
    async (page) => {
      expect(await follow(page)).toBeGreaterThan(0);
    },
  );

  it('or gives the reason why it is not, in every page [GUIDE-009]', () => {
    const unmarked = pages
      .filter((page) => !(page in tried))
      .flatMap((page) => blocksIn(page).flatMap((block) => (isUnrun(block) ? [`${page}:${block.line}`] : [])));
    expect(unmarked).toEqual([]);
  });

  it.each(pages)('of %s that is only shown can be read [GUIDE-010]', (page) => {
    for (const block of blocksIn(page)) if (block.reason === null) assertReadable(page, block);
  });

  function blocksIn(page: string): Block[] {
    return blocksOf(readFileSync(join(root, page), 'utf8'));
  }

  function hasRun(page: string): boolean {
    return blocksIn(page).some((block) => block.reason === null && (isTyped(block) || isProgram(block)));
  }

  /** In a language that runs, and neither run nor with a word why. */
  function isUnrun(block: Block): boolean {
    if (block.title !== null || block.reason !== null || isProgram(block)) return false;
    if (isTyped(block)) return commandsIn(block).length === 0;
    return ['jsx', 'tsx', 'python', 'py', 'sql', 'bash'].includes(block.language);
  }

  const typeHere = (command: string) => type(command, folder);

  it('of an interview, whose file is applied and passes its test [OFF-103]', async () => {
    const init = blocksIn('README.md')
      .flatMap(commandsIn)
      .find(({ command }) => command.startsWith('npx vestra init'));
    const answers = [
      'People who want to know when we are open.',
      'The workshop takes over for anything about money.',
      'Promise a price.',
      'The workshop opens at 9:30. Brakes are mended within two days.',
      'Find repair, cancel repair.',
      'Friendly and short, in English.',
      'When do you open?',
      '9:30',
    ];
    let step = await typeHere(
      `${init?.command} --deployment 'Bikes!' --describe 'Answers customers of a bicycle shop about repairs.'`,
    );
    expect(step.said).toContain('offline stand-in');
    expect(step.said).toContain('The name becomes bikes: it consists of lowercase letters, digits and dashes.');
    for (const answer of answers) {
      const conversation = /--conversation (conv_\w+)/.exec(step.said)?.[1];
      step = await typeHere(`${init?.command} --conversation ${conversation} --answer '${answer}'`);
    }
    expect([step.code, step.said]).toEqual([0, expect.stringContaining('Wrote')]);
    const written = await readFile(join(folder, 'my-agent.yaml'), 'utf8');
    expect(written).toContain('The agent says "9:30".');
    expect(written).toMatch(/function: find_repair\n[\s\S]*function: cancel_repair\n/);
    expect(written).toMatch(/^# knowledge:\n/m);
    const applied = await typeHere('npx vestra apply --file my-agent.yaml');
    expect([applied.code, applied.said]).toEqual([
      0,
      expect.stringContaining('✔ bikes: version 1 is active for test keys'),
    ]);
  });

  it('leaves an example whose stand-in answers a follow-up from a tool result of the turn before [OFF-102]', async () => {
    const say = async (path: string, message: string) => {
      const { status, body, text } = await server.call('POST', path, {
        body: { message, ...(path === '/v1/conversations' && { deployment: 'support-desk' }) },
      });
      expect([status < 300, text]).toEqual([true, expect.any(String)]);
      return body;
    };
    const until = async (path: string, isSo: (body: Body) => boolean): Promise<Body> => {
      for (const deadline = Date.now() + 30_000; ; ) {
        const { body, text } = await server.call('GET', path);
        if (isSo(body)) return body;
        if (Date.now() > deadline) throw new Error(`It never came to that: ${text}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    const { id } = await say('/v1/conversations', 'Where is my order MT-1042?');
    const {
      data: [open],
    } = await until(`/v1/interactions?conversation_id=${id}`, ({ data }) => data.length > 0);
    const output = { number: 'MT-1042', state: 'shipped', tracking_number: '1Z999' };
    await server.call('POST', `/v1/interactions/${open.id}/answer`, { body: { output } });
    const messages = `/v1/conversations/${id}/messages`;
    await until(messages, ({ data }) => data.length === 2);
    await say(messages, 'Tracking number?');
    const {
      data: [last],
    } = await until(messages, ({ data }) => data.length === 4);
    expect(last.text).toBe('tracking number: 1Z999');
  });

  it('is found by npx in the folder of the repository', async () => {
    const { stdout } = await promisify(execFile)('npx', ['vestra', 'deployments', 'list'], { cwd: folder, env: env() });
    for (const name of ['support-desk', 'booking-desk', 'research-helper']) expect(stdout).toContain(name);
  });
});
