import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runHere } from '@vestra/cli/terminal.fixture';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServerProcess, startProcess } from '../support/process.ts';
import type { Answer } from '../support/server.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

const root = join(import.meta.dirname, '../..');
/** The examples first: what they show is what comes of a first apply. */
const readmes = [
  ...readdirSync(join(root, 'examples')).map((name) => `examples/${name}/README.md`),
  'README.md',
  'docs/going-live.md',
  'docs/interactions.md',
];

/** A command as the Markdown has it, and what must come of it: lines in which `…` stands for anything. */
type Documented = { command: string; shows: string[] };

/** Commands for which this is the wrong place, and where the right one is. */
const elsewhere: [RegExp, string][] = [
  [/^npm install && npm (start|test)$/, 'this process was started by one of them'],
  [/^curl /, 'start.test.ts sends what the start prints'],
  [/^npx vitest run tests\/scenarios\/example-conversations\.test\.ts -t [\w-]+$/, 'is a test'],
  [/^npx vestra admin /, 'operator.test.ts'],
  [/^npm install \.\/vestra-[\d.]+\.tgz$|^npx vestra start$/, 'package.test.ts'],
];

function commandsOf(readme: string): Documented[] {
  const blocks = [...readFileSync(join(root, readme), 'utf8').matchAll(/^```(?:sh|console)\n([\s\S]*?)^```$/gm)];
  const found: Documented[] = [];
  for (const line of blocks.flatMap(([, block = '']) => block.split('\n'))) {
    const command = /^(?:\$ |(?=npx |npm ))(.+?)(?:\s+#.*)?$/.exec(line)?.[1];
    if (command) found.push({ command, shows: [] });
    else if (line.trim() !== '') found.at(-1)?.shows.push(line);
  }
  return found.filter(({ command }) => !elsewhere.some(([pattern]) => pattern.test(command)));
}

type Body = Answer['body'];

let folder: string;
let database: TestDatabase;
let server: ServerProcess;
beforeAll(async () => {
  // A folder as a fresh clone is, with everything of the repository in it and no data.
  folder = await mkdtemp(join(tmpdir(), 'vestra-readme-'));
  for (const name of ['examples', 'node_modules', 'packages', 'package.json'])
    await symlink(join(root, name), join(folder, name));
  await mkdir(join(folder, '.vestra'));
  database = await createTestDatabase();
  server = await startProcess(join(folder, '.vestra'), { DATABASE_URL: database.connectionString });
});
afterAll(async () => {
  await server?.kill('SIGTERM');
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

/** Typed in that folder by somebody who has set nothing but where the server listens. */
const env = () => ({ PATH: process.env.PATH ?? '', HOME: folder, XDG_CONFIG_HOME: folder, VESTRA_URL: server.url });

/** Without the second that `npx` takes each time. */
async function type(command: string): Promise<{ code: number; said: string }> {
  const words = [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    (match) => match.slice(1).find((each) => each !== undefined) ?? '',
  );
  expect(words.slice(0, 2)).toEqual(['npx', 'vestra']);
  const { code, out, err } = await runHere(words.slice(2), { cwd: folder, env: env() });
  return { code, said: out + err };
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const showing = (line: string) => new RegExp(`^${line.split('…').map(escaped).join('.*')}$`, 'm');

describe('a documented command is a tested command', () => {
  it.each(readmes)('of %s, on a fresh machine with no key and no secret [OFF-104, OPS-215]', async (readme) => {
    const commands = commandsOf(readme).filter(({ command }) => !command.startsWith('npx vestra init'));
    expect(commands.length).toBeGreaterThan(1);
    for (const { command, shows } of commands) {
      const { code, said } = await type(command);
      expect([command, code, said]).toEqual([command, 0, expect.any(String)]);
      for (const line of shows) expect(said).toMatch(showing(line));
      if (said.includes('Tests:')) expect(said).toContain('judged by the offline stand-in (word match)');
      // What it asks in its turn it says without a word of who it is.
      if (command.includes(' ask ') && !said.includes('vestra answer ')) expect(said).toContain('offline stand-in');
    }
  });

  it('of an interview, whose file is applied and passes its own test [OFF-103]', async () => {
    const [init] = commandsOf('README.md').filter(({ command }) => command.startsWith('npx vestra init'));
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
    let step = await type(
      `${init?.command} --deployment 'Bikes!' --describe 'Answers customers of a bicycle shop about repairs.'`,
    );
    expect(step.said).toContain('offline stand-in');
    expect(step.said).toContain('It is called bikes: a name has lowercase letters, digits and dashes.');
    for (const answer of answers) {
      const conversation = /--conversation (conv_\w+)/.exec(step.said)?.[1];
      step = await type(`${init?.command} --conversation ${conversation} --answer '${answer}'`);
    }
    expect([step.code, step.said]).toEqual([0, expect.stringContaining('Wrote')]);
    const written = await readFile(join(folder, 'my-agent.yaml'), 'utf8');
    expect(written).toContain('The agent says "9:30".');
    expect(written).toMatch(/function: find_repair\n[\s\S]*function: cancel_repair\n/);
    expect(written).toMatch(/^# knowledge:\n/m);
    const applied = await type('npx vestra apply --file my-agent.yaml');
    expect([applied.code, applied.said]).toEqual([
      0,
      expect.stringContaining('✔ bikes: version 1 is what test keys run'),
    ]);
  });

  it('leaves an example whose stand-in answers a follow-up from what a tool said in the turn before [OFF-102]', async () => {
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
