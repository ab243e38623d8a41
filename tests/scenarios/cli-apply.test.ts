import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runHere } from '@vestra/cli/terminal.fixture';
import { credit } from '@vestra/server/billing/charge';
import { closeDatabase, openDatabase } from '@vestra/server/platform/db/pool';
import { transaction } from '@vestra/server/platform/db/transaction';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { unusedPort } from '../../packages/server/src/platform/outbound/loopback.fixture.ts';
import { type AgentServer, startAgentServer } from '../support/agent.ts';
import { cast, lastText, resultsIn } from '../support/cast.ts';
import { runCli, startCli } from '../support/cli.ts';
import { makeOtherOrg } from '../support/other-org.ts';

let server: AgentServer;
let root: string;
beforeAll(async () => {
  server = await startAgentServer();
  const db = await openDatabase({ connectionString: server.connectionString });
  await transaction(db, (tx) => credit(tx, { orgId: server.orgId, mode: 'live' }, 50_000_000n));
  await closeDatabase(db);
  root = await mkdtemp(join(tmpdir(), 'vestra-cli-apply-'));
});
afterAll(async () => {
  await server.stop();
  await rm(root, { recursive: true, force: true });
});
beforeEach(() => server.script(cast({ agent: () => ({ text: 'Hello.' }) })));

async function folderWith(name: string, files: Record<string, string>): Promise<string> {
  const folder = join(root, name);
  await mkdir(folder, { recursive: true });
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return folder;
}

const env = () => ({ VESTRA_URL: server.url, VESTRA_KEY: server.testKey });
const vestra = (cwd: string, ...words: string[]) => runCli(words, { cwd, env: env() });
/** Runs the command inside this process. Starting another process would prove nothing more. */
const here = (cwd: string, ...words: string[]) => runHere(words, { cwd, env: { ...env(), XDG_CONFIG_HOME: root } });
const read = async (path: string) => (await server.call('GET', path)).body;

const skill = '---\nname: returns\ndescription: How a return is taken.\n---\nAsk for the order number.\n';
const shop = {
  'service.yaml': [
    'name: shop',
    'instructions: Answer in one sentence.',
    'skills: [./skills/returns]',
    'knowledge: ./knowledge',
    'computer:',
    '  setup: ./setup.sh',
    '',
  ].join('\n'),
  'skills/returns/SKILL.md': skill,
  'knowledge/hours.md': '# Hours\n\nNine to five.\n',
  'setup.sh': 'echo ready\n',
};

describe('vestra apply', () => {
  it('uploads the files of service.yaml, applies the rest, uploads nothing the second time, and prints its plan first [APPLY-262, APPLY-017, APPLY-018, APPLY-019, APPLY-020]', async () => {
    const folder = await folderWith('shop', shop);
    const first = await vestra(folder, 'apply');
    expect([first.code, first.err]).toEqual([0, '']);
    // How far the index is when it is asked for depends on the machine.
    expect(first.out.split('\n').filter((line) => !line.startsWith('Indexing: '))).toEqual([
      'Read service.yaml: shop',
      'Uploaded skill returns',
      expect.stringMatching(/^Created notebook shop-knowledge/),
      'Uploaded document hours.md',
      'Saved version 1 (a new deployment)',
      '✔ shop: version 1 is active for test keys',
      '',
    ]);
    const { manifest } = await read('/v1/deployments/shop/versions/1');
    expect(manifest.environment.setup).toBe('echo ready\n');
    const kept = await read(`/v1/skills/${manifest.skills[0].id}`);
    expect(kept.files).toEqual([{ path: 'SKILL.md', bytes: skill.length, content: skill }]);
    const documentsNow = async () =>
      (await read(`/v1/notebooks/${manifest.notebooks[0]}/documents`)).data.map(
        ({ indexed: _, ...document }: { indexed: boolean }) => document,
      );
    const documents = await documentsNow();
    expect(documents).toHaveLength(1);

    const second = await vestra(folder, 'apply');
    expect(second.out.split('\n')).toEqual([
      'Read service.yaml: shop',
      'Nothing to upload',
      'Nothing changed: version 1 stays',
      '✔ shop: version 1 is active for test keys',
      '',
    ]);
    expect((await read(`/v1/skills/${kept.id}/versions`)).data).toHaveLength(1);
    expect(await documentsNow()).toEqual(documents);
    expect((await read(`/v1/notebooks/${manifest.notebooks[0]}`)).description).toBe('From knowledge: Hours.');

    await rename(join(folder, 'knowledge/hours.md'), join(folder, 'knowledge/times.md'));
    const { slug } = await read(`/v1/notebooks/${manifest.notebooks[0]}`);
    expect((await here(folder, 'apply', '--dry-run')).out).toBe(
      `- document hours.md of ${slug}\n+ document times.md of ${slug}\nshop: a version would be saved, and promoted at once.\n`,
    );
    expect(await documentsNow()).toEqual(documents);
  });

  it('reads a file given by path from another folder [APPLY-020]', async () => {
    const folder = await folderWith('named', { 'other.yaml': 'name: other\n', 'service.yaml': 'name: not-this\n' });
    const { code, out } = await vestra(root, 'apply', folder, '--file', 'other.yaml', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ object: 'deployment', slug: 'other', created: true, test_run: null });
    expect((await server.call('GET', '/v1/deployments/not-this')).status).toBe(404);
  });

  it('reports the line of an error in the file and changes nothing', async () => {
    const folder = await folderWith('wrong', {
      'service.yaml': 'name: wrong\nlanguage: en\ntools:\n  - function: x\n',
    });
    const words = await vestra(folder, 'apply');
    expect(words.code).toBe(1);
    expect(words.err).toMatch(/^✖ service\.yaml:4:\d+ .+\n {2}\S+ · req_\w+\n$/);
    const json = await here(folder, 'apply', '--json');
    expect([json.code, json.out]).toEqual([1, '']);
    const { error } = JSON.parse(json.err);
    expect(error).toMatchObject({
      type: 'invalid_request',
      param: 'tools.0.description',
      line: 4,
      file: 'service.yaml',
    });
    expect((await server.call('GET', '/v1/deployments/wrong')).status).toBe(404);
    const empty = await here(await folderWith('empty', {}), 'apply');
    expect([empty.code, empty.err]).toEqual([1, expect.stringContaining('service.yaml: There is no such file')]);
  });

  it('names the unreachable tool server, and why a test could not be played', async () => {
    const port = await unusedPort();
    const folder = await folderWith('away', {
      'service.yaml': [
        'name: away',
        `tools: [{mcp: 'http://127.0.0.1:${port}/mcp', name: orders}]`,
        "tests: [{name: Greets, ask: Hello, expect: ['It greets.']}]",
        '',
      ].join('\n'),
    });
    const { code, out } = await here(folder, 'apply');
    expect(code).toBe(1);
    const slug = (await read('/v1/mcp-servers?limit=1')).data[0].slug;
    const why = '127.0.0.1 could not be reached: ECONNREFUSED.';
    expect(out).toContain(`! The tool server ${slug} cannot be called now: ${why} (mcp_server_error)\n`);
    expect(out).toContain(`    mcp_server_error: The server \`${slug}\` is unreachable. ${why}`);
    expect((await here(folder, 'test')).out).toContain(`The server \`${slug}\` is unreachable.`);
    const json = JSON.parse((await here(folder, 'apply', '--promote', 'no', '--json')).out);
    expect(json.servers_away).toEqual([{ slug, code: 'mcp_server_error', message: why }]);
  });

  it('plays the tests, prints each verdict, and promotes only passing versions; a failing file stays failing [APPLY-121]', async () => {
    const folder = await folderWith('tested', {
      'service.yaml': [
        'name: tested',
        'tests:',
        '  - name: Greets',
        '    ask: Hello?',
        '    expect: The agent greets.',
        '  - name: Stays calm',
        '    ask: I am angry.',
        '    expect: The agent says sorry.',
        '',
      ].join('\n'),
    });
    const live = { VESTRA_URL: server.url, VESTRA_KEY: server.liveKey };
    server.script(
      cast({
        agent: () => ({ text: 'Hi.' }),
        judge: ({ text }) => ({ holds: !text.includes('sorry'), reason: 'No sorry.' }),
      }),
    );
    const failed = await runCli(['apply'], { cwd: folder, env: live });
    expect(failed.code).toBe(1);
    expect(failed.out).toMatch(/\n✔ Greets \d/);
    expect(failed.out).toMatch(/\n✖ Stays calm .*\n {4}not met: The agent says sorry\.\n {6}No sorry\.\n/);
    expect(failed.out).toMatch(/✖ tested: version 1 was not promoted: 1 of 2 passed, 1 failed; \$/);
    expect((await read('/v1/deployments/tested')).live_version).toBeNull();
    const again = await vestra(folder, 'apply');
    expect([again.code, again.out]).toEqual([
      1,
      expect.stringMatching(
        /\nNothing changed: version 1 stays\nThe 2 tests were played before, on the same\n[\s\S]*✖ tested: version 1 was not promoted: 1 of 2 passed, 1 failed; /,
      ),
    ]);

    server.script(cast({ agent: () => ({ text: 'Hi, sorry.' }) }));
    await writeFile(join(folder, 'service.yaml'), `${await readFile(join(folder, 'service.yaml'))}language: en\n`);
    const passed = await runCli(['apply'], { cwd: folder, env: live });
    expect([passed.code, passed.out]).toEqual([0, expect.stringMatching(/✔ tested: version 2 is live\n$/)]);
    expect((await read('/v1/deployments/tested')).live_version).toBe(2);
  });
});

describe('vestra diff', () => {
  const file = ['name: planned', 'instructions: |', '  Be kind.', '  Be brief.', '  Say please.', ''];

  it('prints the plan, of local files too, and changes nothing; --exit-code tells a change [PLAN-710, PLAN-711]', async () => {
    const folder = await folderWith('planned', {
      'service.yaml': file.join('\n'),
      'docs/a.md': 'Nine to five.',
    });
    const first = await here(folder, 'diff', '--exit-code');
    expect([first.code, first.err]).toEqual([2, '']);
    expect(first.out).toContain('planned: a version would be saved, and promoted at once.\n');
    expect((await server.call('GET', '/v1/deployments/planned')).status).toBe(404);
    expect((await here(folder, 'apply')).code).toBe(0);
    expect(await here(folder, 'diff', '--exit-code')).toEqual({
      code: 0,
      out: 'planned: nothing would change.\n',
      err: '',
    });

    const tool = 'tools: [{function: find, description: Finds., read_only: true}]';
    const next = [...file.slice(0, 3), '  Be very brief.', ...file.slice(4), 'language: en', tool, 'knowledge: ./docs'];
    await writeFile(join(folder, 'service.yaml'), next.join('\n'));
    const changed = await here(folder, 'apply', '--dry-run', '--exit-code');
    expect(changed.code).toBe(2);
    expect(changed.out).toMatch(
      /^~ instructions:\n {6}Be kind\.\n {4}- Be brief\.\n {4}\+ Be very brief\.\n {6}Say please\.\n/,
    );
    expect(changed.out).toContain('+ language: en\n');
    expect(changed.out).toMatch(/\n\+ notebook planned-docs\S*\n\+ document a\.md of planned-docs/);
    expect(
      (await runHere(['diff'], { cwd: folder, env: { ...env(), XDG_CONFIG_HOME: root }, columns: 80 })).out,
    ).toContain('\u001b[31m    - Be brief.\u001b[39m');
    const json = await here(folder, 'diff', '--json');
    expect([json.code, JSON.parse(json.out)]).toMatchObject([
      0,
      {
        object: 'plan',
        creates_version: true,
        uploads: [{ kind: 'notebook' }, { kind: 'document', action: 'created' }],
      },
    ]);
    expect((await read('/v1/deployments/planned')).newest_version).toBe(1);
    const names = (await read('/v1/notebooks?limit=100')).data.map(({ slug }: { slug: string }) => slug);
    expect(names.filter((slug: string) => slug.startsWith('planned'))).toEqual([]);
  });

  it('prints all faults in the order of the lines, each with its field, and no server is an error [PLAN-709, PLAN-711]', async () => {
    const folder = await folderWith('faults', {
      'service.yaml': [
        'name: faults',
        'langauge: en',
        'limits: {per_task_usd: x}',
        'tools:',
        '  - function: find',
        '  - {mcp: "https://example.com/mcp", function: both, description: Both.}',
        '  - {mcp: "https://other.example.com", auth: "${NOT_THERE}"}',
        'tests:',
        '  - name: Greets',
        '    ask: Hello',
        'knowledge: ./missing',
        'model: gpt-9',
        '',
      ].join('\n'),
    });
    for (const words of [['diff', '--exit-code'], ['apply', '--dry-run'], ['apply']]) {
      const { code, out, err } = await here(folder, ...words);
      expect([words, code, out.includes('Saved')]).toEqual([words, 1, false]);
      expect(
        err
          .split('\n')
          .slice(0, 8)
          .map((line) => line.replace(/^[ ✖]+/, '')),
      ).toEqual([
        'service.yaml:2:1 langauge: Unknown field `langauge`. Did you mean `language`?',
        'service.yaml:3:10 limits.per_task_usd: Must be a number, not text.',
        'service.yaml:5:5 tools.0.description: This field is required.',
        'service.yaml:6:5 tools.1: Write one of `mcp` and `function`, not both.',
        'service.yaml:7:40 tools.2.auth: The secret NOT_THERE is not stored in test mode. Store it first.',
        'service.yaml:9:5 tests.0.expect: This field is required.',
        expect.stringMatching(/^service\.yaml:11:1 knowledge: There is no `missing`/),
        expect.stringMatching(/^service\.yaml:12:1 model: No configured provider has the model/),
      ]);
      expect(err).toContain('vestra secrets set NOT_THERE');
    }
    const port = await unusedPort();
    const away = { VESTRA_URL: `http://127.0.0.1:${port}`, VESTRA_KEY: server.testKey, XDG_CONFIG_HOME: root };
    const good = await folderWith('good', { 'service.yaml': 'name: good\n' });
    const unreachable = await runHere(['diff', '--exit-code'], { cwd: good, env: away });
    expect([unreachable.code, unreachable.out]).toEqual([1, '']);
    expect(unreachable.err).toContain(`127.0.0.1:${port}`);
  });
});

describe('the documented GitHub Actions workflow', () => {
  it('plans a pull request and applies a merge with real commands [PLAN-714]', async () => {
    const page = await readFile(join(import.meta.dirname, '../../docs/going-live.md'), 'utf8');
    const [, block = ''] = /```yaml\n(# \.github[\s\S]+?)```/.exec(page) ?? [];
    const workflow = parse(block);
    expect(workflow.on).toEqual({
      pull_request: { paths: ['agent/**'] },
      push: { branches: ['main'], paths: ['agent/**'] },
    });
    await folderWith('ci/agent', { 'service.yaml': 'name: ci\n' });
    const keys: Record<string, string> = {
      '${{ secrets.VESTRA_TEST_KEY }}': server.testKey,
      '${{ secrets.VESTRA_LIVE_KEY }}': server.liveKey,
    };
    const inJob = async (name: string) => {
      const { env: given, steps } = workflow.jobs[name];
      const command: string = steps.at(-1).run;
      expect(command).toMatch(/^npx vestra /);
      const settings = { VESTRA_URL: server.url, VESTRA_KEY: keys[given.VESTRA_KEY] as string, XDG_CONFIG_HOME: root };
      return runHere(command.split(' ').slice(2), { cwd: join(root, 'ci'), env: settings });
    };
    const plan = await inJob('plan');
    expect([plan.code, plan.out]).toEqual([0, 'ci: a version would be saved, and promoted at once.\n']);
    expect((await server.call('GET', '/v1/deployments/ci')).status).toBe(404);
    expect((await inJob('apply')).out).toContain('ci: version 1 is live');
  });
});

describe('a folder with a file that cannot be read', () => {
  it('is rejected with every such file before any document is written [PLAN-712]', async () => {
    const page = (text: string) => `<html><body><p>${text}</p></body></html>`;
    const folder = await folderWith('half', {
      'service.yaml': 'name: half\nknowledge: ./docs\n',
      'docs/a.md': 'The old text.',
      'docs/b.html': page('The old page.'),
    });
    expect((await here(folder, 'apply')).code).toBe(0);
    const [notebook] = (await read('/v1/deployments/half/versions/1')).manifest.notebooks;
    const documents = async () => (await read(`/v1/notebooks/${notebook}/documents`)).data;
    const texts = async () =>
      (await documents()).map(({ title, sha256 }: { title: string; sha256: string }) => [title, sha256]);
    const before = await texts();
    expect(before).toHaveLength(2);
    expect((await here(folder, 'diff')).out).toBe('half: nothing would change.\n');

    await writeFile(join(folder, 'docs/a.md'), 'The new text.');
    await writeFile(join(folder, 'docs/y.pdf'), '%PDF-1.4 broken');
    await writeFile(join(folder, 'docs/z.docx'), 'no zip');
    for (const words of [['apply'], ['diff']]) {
      const { code, err } = await here(folder, ...words);
      expect([words, code]).toEqual([words, 1]);
      expect(err).toMatch(/^✖ docs\/y\.pdf: The [^\n]+\n {2}docs\/z\.docx: The /);
      expect(await texts()).toEqual(before);
    }
    await rm(join(folder, 'docs/y.pdf'));
    await rm(join(folder, 'docs/z.docx'));
    const fixed = await here(folder, 'apply');
    expect([fixed.code, fixed.out]).toEqual([0, expect.stringContaining('Replaced document a.md\n')]);
    expect(fixed.out).not.toContain('b.html');
    expect((await documents()).map(({ content_type }: { content_type: string }) => content_type).sort()).toEqual([
      'text/markdown',
      'text/plain',
    ]);
  });
});

describe('a wallet that is empty', () => {
  it('is reported with the command that fills it, by apply and by test [OPS-216]', async () => {
    const folder = await folderWith('broke', {
      'service.yaml': 'name: broke\ntests:\n  - name: Greets\n    ask: Hello?\n    expect: The agent greets.\n',
    });
    const broke = { VESTRA_URL: server.url, VESTRA_KEY: await makeOtherOrg(server) };
    const hint =
      'The test wallet is empty. The operator adds money with: vestra admin credit --org <org id> --mode test --usd 50';
    for (const word of ['apply', 'test']) {
      const { code, out, err } = await runHere([word], { cwd: folder, env: broke });
      expect([word, code]).toEqual([word, 1]);
      expect(out + err).toContain('wallet_empty');
      expect(out + err).toContain(hint);
    }
  });
});

describe('vestra test', () => {
  it('plays the scenarios of the file’s deployment and ends with the verdict', async () => {
    const folder = join(root, 'tested');
    const good = await vestra(folder, 'test');
    expect([good.code, good.out]).toEqual([
      0,
      expect.stringMatching(/^Running 2 tests\n[\s\S]+Tests: 2 of 2 passed; \$/),
    ]);
    server.script(cast({ agent: () => ({ text: 'No.' }), judge: () => ({ holds: false }) }));
    const bad = await here(root, 'test', 'tested', '--json');
    expect(bad.code).toBe(1);
    expect(JSON.parse(bad.out)).toMatchObject({ object: 'test_run', status: 'failed', counts: { failed: 2 } });
  });
});

describe('vestra init', () => {
  it('asks questions, resumes, and writes a service.yaml that applies', async () => {
    server.script((request) => {
      const answers = lastText(request).split('"answer"').length - 1;
      const tests = [{ name: 'Answers', ask: 'Is it ready?', expect: ['The agent says when.'] }];
      const file = JSON.stringify({ name: 'repairs', instructions: 'Answer about repairs.', tests });
      const isDone = answers >= 5;
      return { text: JSON.stringify({ question: isDone ? '' : `Question ${answers + 1}?`, is_done: isDone, file }) };
    });
    const folder = await folderWith('fresh', {});
    const begun = await vestra(folder, 'init', '--deployment', 'Repairs!', '--describe', 'Answers about repairs.');
    expect([begun.code, begun.out]).toEqual([0, 'Question 1?\n']);
    expect(begun.err).toContain('The name becomes repairs: it consists of lowercase letters, digits and dashes.');
    const conversation = /--conversation (conv_\w+)/.exec(begun.err)?.[1] as string;
    for (const answer of ['One', 'Two', 'Three']) {
      await server.call('POST', '/v1/deployments/interview', { body: { conversation, answer } });
    }
    const fifth = await here(folder, 'init', '--conversation', conversation, '--answer', 'Four', '--json');
    expect(JSON.parse(fifth.out)).toMatchObject({ object: 'interview', status: 'asking', question: 'Question 5?' });
    const last = await vestra(folder, 'init', '--conversation', conversation, '--answer', 'Five');
    expect(last.out).toBe(`✔ Wrote ${join(folder, 'service.yaml')} for repairs.\n`);
    const written = await readFile(join(folder, 'service.yaml'), 'utf8');
    expect(written).toContain('Answer about repairs.');
    for (const field of ['tools', 'knowledge', 'approvals']) expect(written).toContain(`\n# ${field}:`);
    const again = await here(folder, 'init', '--deployment', 'x', '--describe', 'x');
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('already exists: use --force')]);
    expect((await here(folder, 'apply', '--dry-run')).out).toMatch(
      /repairs: a version would be saved, and promoted after this test passes: Answers\.\n$/,
    );
  });
});

describe('vestra dev', () => {
  it('sends messages to the draft and applies each saved change', async () => {
    server.script(({ system }) => ({ text: system.join().includes('Be rude.') ? 'Go away.' : 'Welcome.' }));
    const folder = await folderWith('draft', { 'service.yaml': 'name: draft\ninstructions: Be kind.\n' });
    const dev = startCli(['dev'], { cwd: folder, env: env() });
    await dev.until(({ err }) => err.includes('Type a message.'));
    expect(dev.err()).toContain('Saved version 1');
    dev.child.stdin?.write('Hello\n');
    await dev.until(({ out }) => out.includes('Welcome.\n'));

    await writeFile(join(folder, 'service.yaml'), 'name: draft\ninstructions: [\n');
    await dev.until(({ err }) => err.includes('✖ service.yaml:'));
    await writeFile(join(folder, 'service.yaml'), 'name: draft\ninstructions: Be rude.\n');
    await dev.until(({ err }) => err.includes('Saved version 2 (changed: instructions)'));
    dev.child.stdin?.end('Hello again\n');
    expect(await dev.ended).toBe(0);
    expect(dev.err()).toContain('A new conversation with version 2.');
    expect(dev.out()).toMatch(/^Welcome\.\nGo away\.\n$/);
    expect((await read('/v1/deployments/draft')).live_version).toBeNull();
  });

  it('answers the functions of the folder, also as they are edited [FUN-031]', async () => {
    server.script((request) => {
      const [result] = resultsIn(request);
      return result ? { text: `Found: ${result}` } : { calls: [{ name: 'find', arguments: {} }] };
    });
    const folder = await folderWith('served', {
      'service.yaml': 'name: served\ntools:\n  - function: find\n    description: Finds.\n    read_only: true\n',
      'functions.mjs': 'export const find = () => "on shelf 1";',
    });
    const dev = startCli(['dev'], { cwd: folder, env: env() });
    await dev.until(({ err }) => err.includes('Answering find.'));
    dev.child.stdin?.write('Where?\n');
    await dev.until(({ out }) => out.includes('on shelf 1'));
    await writeFile(join(folder, 'functions.mjs'), 'export const find = () => "on shelf 2";');
    await dev.until(({ err }) => err.split('Answering find.').length === 3);
    dev.child.stdin?.end('And now?\n');
    expect(await dev.ended).toBe(0);
    expect(dev.out()).toContain('on shelf 2');
    expect(dev.err()).not.toContain('vestra answer');
  });

  it('refuses a live key, which would not run the draft', async () => {
    const { code, err } = await here(root, 'dev', '--key', server.liveKey);
    expect([code, err]).toEqual([1, expect.stringContaining('needs a test key')]);
  });
});
