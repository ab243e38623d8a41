import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { templates } from '@vestra/cli/template';
import { runHere } from '@vestra/cli/terminal.fixture';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { runCli, startCli } from '../support/cli.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { startTickets } from './templates.fixture.ts';

/** Without a model key, as on the machine of a newcomer. */
let server: TestServer;
let root: string;
beforeAll(async () => {
  server = await startTestServer({ env: { VESTRA_ALLOW_PRIVATE_ADDRESSES: '1' } });
  root = await mkdtemp(join(tmpdir(), 'vestra-templates-'));
});
afterAll(async () => {
  await server.stop();
  await rm(root, { recursive: true, force: true });
});

const env = () => ({ VESTRA_URL: server.url, VESTRA_KEY: server.testKey });
const here = (...words: string[]) => runHere(words, { cwd: root, env: { ...env(), XDG_CONFIG_HOME: root } });

/** A question that the printed commands ask, and words of its answer. */
const answers: Record<string, string> = {
  'support-desk': 'within thirty days of delivery',
  'research-helper': '41,000 smart thermostats',
  'it-desk': 'status: open',
  'voice-reception': 'from eight in the morning',
};

const wordsOf = (line: string) =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? (bare as string));

/** Types the commands that `vestra init` printed, in their order, and returns what they printed. */
async function typeAll(folder: string, commands: readonly string[]): Promise<string> {
  let said = '';
  for (const command of commands.map((each) => each.replace(/\s+#.*$/, ''))) {
    // The server runs already; speech is installed by `npm run test:sound`.
    if (/vestra (start|setup voice)$/.test(command)) continue;
    if (command.startsWith('node ')) {
      await startTickets(folder);
      continue;
    }
    const words = wordsOf(command.replace(/^npx vestra /, ''));
    if (words[0] === 'functions') {
      const serving = startCli(words, { cwd: root, env: env() });
      onTestFinished(() => void serving.child.kill());
      await serving.until(({ err }) => err.includes('Answering '));
      continue;
    }
    const { code, out, err } = await here(...words);
    expect([command, code, out + err]).toEqual([command, 0, expect.any(String)]);
    said += out;
  }
  return said;
}

describe('vestra init --template', () => {
  it.each(templates)(
    '$name is written, applied, tested and asked with the printed commands [TPL-700, TPL-701]',
    async ({ name, title }) => {
      const { code, out, err } = await runCli(['init', '--template', name], { cwd: root, env: env() });
      expect([code, err]).toEqual([0, '']);
      expect(out).toContain(`Wrote ${name}: ${title}`);
      expect(out).toContain(`${name}/README.md has the rest.`);
      const commands = [...out.matchAll(/^ {2}(.+)$/gm)].map(([, command]) => command as string);
      expect(commands).toContain(`npx vestra apply ${name}`);

      const folder = join(root, name);
      const said = await typeAll(folder, commands);
      const file = parse(await readFile(join(folder, 'service.yaml'), 'utf8'), { merge: true });
      expect(file.tests.length).toBeGreaterThanOrEqual(2);
      for (const test of file.tests as { name: string }[]) expect(said).toContain(`✔ ${test.name}`);
      expect(said).toContain(`✔ ${name}: version 1 is active for test keys`);
      if (answers[name]) expect(said).toContain(answers[name]);
      if (name === 'invoice-reader') {
        const rows = () => readFile(join(folder, 'invoices.csv'), 'utf8').catch(() => '');
        await expect
          .poll(async () => (await rows()).split('\n').sort())
          .toEqual([
            '',
            '"2026-118","Blue Door Catering","2026-11-09","432.5","USD"',
            '"A-77","Harbour Lights Ltd","2026-11-02","89","GBP"',
            '"INV-2041","Northwind Paper","2026-10-30","1250.4","EUR"',
          ]);
      }

      const tested = await here('test', name);
      expect([tested.code, tested.out]).toEqual([0, expect.stringMatching(/Tests: (\d+) of \1 passed/)]);
      const readme = await readFile(join(folder, 'README.md'), 'utf8');
      expect(readme).not.toMatch(/examples\/|\.\.\/docs|not run/);
      for (const [, path] of readme.matchAll(/\]\((http:[^)#]+)/g))
        expect([path, (await fetch(path as string)).status]).toEqual([path, 200]);
    },
  );

  it('plays a refund with approval and one without in the support desk [TPL-702]', async () => {
    const { tests } = parse(await readFile(join(root, 'support-desk/service.yaml'), 'utf8'));
    const refunds = tests.filter(({ expect }: { expect: string | string[] }) =>
      [expect].flat().includes('The agent calls refund_order.'),
    );
    expect(refunds.map(({ approves }: { approves: boolean }) => approves)).toEqual([true, false]);
  });

  it('takes another name and folder, and refuses a folder with files, an unknown name and an interview [TPL-703]', async () => {
    const { code, out } = await here(
      ...['init', '--template', 'support-desk', '--deployment', 'maple', '--out', 'agents/maple', '--json'],
    );
    expect([code, JSON.parse(out)]).toEqual([
      0,
      expect.objectContaining({ template: 'support-desk', deployment: 'maple', folder: 'agents/maple' }),
    ]);
    const written = await readFile(join(root, 'agents/maple/service.yaml'), 'utf8');
    expect(written.split('\n').slice(0, 3)).toEqual([
      `# yaml-language-server: $schema=${server.url}/schemas/service.yaml.json`,
      expect.any(String),
      'name: maple',
    ]);
    expect(await readFile(join(root, 'agents/maple/README.md'), 'utf8')).toContain('npx vestra apply agents/maple');

    for (const [words, code, said] of [
      [['--template', 'support-desk', '--out', 'agents/maple'], 1, 'agents/maple already exists'],
      [['--template', 'suport-desk'], 2, 'Did you mean support-desk?'],
      [['--template', 'x'], 2, 'There are: support-desk, research-helper, it-desk, invoice-reader, voice-reception.'],
      [['--template', 'it-desk', '--describe', 'Helps.'], 2, 'A template needs no interview'],
      [['--out', 'x'], 2, '--out belongs to --template'],
    ] as const) {
      const refused = await here('init', ...words);
      expect([words, refused.code, refused.err]).toEqual([words, code, expect.stringContaining(said)]);
    }
  });
});

describe('the tool server of the IT desk', () => {
  it('speaks the protocol with the official client, and asks for its token [TPL-704]', async () => {
    await here('init', '--template', 'it-desk', '--out', 'guarded');
    const url = await startTickets(join(root, 'guarded'), { TICKETS_TOKEN: 'open-sesame' });
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(401);
    const client = new Client({ name: 'test', version: '1.0.0' });
    const requestInit = { headers: { authorization: 'Bearer open-sesame' } };
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }) as never);
    onTestFinished(() => client.close());
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
      'find_ticket',
      'open_ticket',
      'close_ticket',
    ]);
    const call = (name: string, given: object) => client.callTool({ name, arguments: { ...given } });
    expect(await call('find_ticket', { id: 'T-17' })).toMatchObject({
      content: [{ text: expect.stringContaining('Mara') }],
    });
    expect(await call('find_ticket', { id: 'T-1' })).toMatchObject({ isError: true });
    await expect(call('drop_tables', {})).rejects.toThrow('There is no tool drop_tables.');
    const broken = await fetch(url, { method: 'POST', body: '{', headers: requestInit.headers });
    expect(broken.status).toBe(400);
  });
});
