import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { headingOf } from '@vestra/cli/command-groups';
import { buildProgram } from '@vestra/cli/program';
import { keptTerminal, runHere } from '@vestra/cli/terminal.fixture';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type AgentServer, startAgentServer } from '../support/agent.ts';
import { runCli, startCli } from '../support/cli.ts';
import { matchWords } from '../support/word-matching-model.ts';
import { payOrg } from './conversations.fixture.ts';
import { startTickets } from './templates.fixture.ts';

/** Three companies bring a folder from an empty server to live and back, with the command line alone. */
let server: AgentServer;
let root: string;
beforeAll(async () => {
  server = await startAgentServer({ respond: matchWords });
  await payOrg(server, server.orgId);
  root = await mkdtemp(join(tmpdir(), 'vestra-companies-'));
});
afterAll(async () => {
  await server.stop();
  await rm(root, { recursive: true, force: true });
});

// biome-ignore lint/suspicious/noExplicitAny: tests read answers field by field.
type Json = any;
type Mode = 'test' | 'live';

const names = buildProgram(keptTerminal().terminal).names;
/** Configuration commands, and those that bring a folder to users. A new one must be played here. */
const covered = names.filter(
  (name) =>
    headingOf(name.split(' ')[0] as string) === 'Configuration:' || /^(init|diff|apply|test|ask|answer)$/.test(name),
);
const played = new Set<string>();

function note(words: readonly string[]): void {
  const typed = words.filter((word) => !word.startsWith('-'));
  const name = [typed.slice(0, 2).join(' '), typed[0] as string].find((each) => names.includes(each));
  if (name) played.add(name);
}

const envOf = (mode: Mode) => ({
  VESTRA_URL: server.url,
  VESTRA_KEY: mode === 'live' ? server.liveKey : server.testKey,
});

/** A process per command is slow, so only the first company starts the program. */
let isProgram = true;

/** Returns what the command printed. */
async function vestra(mode: Mode, words: readonly string[], code = 0): Promise<string> {
  note(words);
  const ended = isProgram
    ? await runCli(words, { cwd: root, env: envOf(mode) })
    : await runHere(words, { cwd: root, env: { ...envOf(mode), XDG_CONFIG_HOME: root } });
  expect([words.join(' '), ended.code, ended.out + ended.err]).toEqual([words.join(' '), code, expect.any(String)]);
  return ended.out;
}

/** The same command line in this process, for single calls. Returns the API's answer. */
async function call(mode: Mode, ...words: string[]): Promise<Json> {
  note(words);
  const env = { ...envOf(mode), XDG_CONFIG_HOME: root };
  const ended = await runHere([...words, '--json'], { cwd: root, env });
  expect([words.join(' '), ended.code, ended.out + ended.err]).toEqual([words.join(' '), 0, expect.any(String)]);
  return ended.out === '' ? null : JSON.parse(ended.out);
}

/** Everything that configuration leaves on a server, in both modes. */
async function stateOf(): Promise<Json> {
  const lists = ['deployments', 'notebooks', 'skills', 'mcp-servers', 'secrets', 'webhooks', 'routines'];
  const rows: Record<string, unknown> = {};
  for (const mode of ['test', 'live'] as const)
    for (const name of lists)
      rows[`${mode} ${name}`] = (await call(mode, name, 'list')).data.map(
        ({ id, slug, name }: Json) => id ?? slug ?? name,
      );
  return rows;
}

/** Everything that live users of a deployment depend on. */
async function liveOf(name: string, ask: string): Promise<Json> {
  const { live_version } = await call('live', 'deployments', 'get', name);
  const { version, manifest, missing } = await call('live', 'versions', 'get', name, String(live_version));
  const documents = [];
  for (const notebook of manifest.notebooks)
    documents.push((await call('live', 'notebooks', 'search', notebook, '--q', ask, '--deployment', name)).data);
  return {
    version,
    manifest,
    missing,
    documents,
    yaml: (await vestra('live', ['deployments', 'get', `${name}@${live_version}`, '--format', 'yaml'])).trim(),
    webhooks: (await call('live', 'webhooks', 'list')).data.map(({ id, url, active }: Json) => ({ id, url, active })),
    routines: (await call('live', 'routines', 'list')).data.map(({ name, enabled }: Json) => ({ name, enabled })),
  };
}

type Company = {
  template: string;
  /** A live question, its answer, and a change of a document that gives it another one. */
  ask: string;
  before: string;
  document: string;
  after: string;
  /** Done in the new folder before its first apply. */
  prepare?: (folder: string) => Promise<void>;
  /** A change of the file itself, by text. */
  change: [from: string, to: string];
  /** The field that the plan then names. */
  changes: string;
};

const companies: Company[] = [
  {
    template: 'support-desk',
    ask: 'How do I wash lambswool?',
    before: 'Wash lambswool by hand below thirty degrees',
    document: 'knowledge/care.md',
    after: 'Wash lambswool by hand below twenty degrees',
    change: ['max_steps: 40', 'max_steps: 50'],
    changes: 'limits',
    async prepare(folder) {
      const file = join(folder, 'service.yaml');
      // The commented webhook of the template.
      const text = await readFile(file, 'utf8');
      await writeFile(
        file,
        text.replace(/^# webhooks:[\s\S]*$/m, (lines) => lines.replaceAll(/^# /gm, '')),
      );
    },
  },
  {
    template: 'research-helper',
    ask: 'How many smart thermostats were sold in Portugal?',
    before: 'In 2025 about 41,000 smart thermostats were sold in Portugal',
    document: 'knowledge/thermostats-portugal.md',
    after: 'In 2026 about 41,000 smart thermostats were sold in Portugal',
    change: ['max_minutes: 90', 'max_minutes: 60'],
    changes: 'limits',
  },
  {
    template: 'it-desk',
    ask: 'Which app do I need for the VPN?',
    before: 'The VPN needs the app Tailgate',
    document: 'knowledge/handbook.md',
    after: 'The VPN needs the apps Tailgate',
    // The second version gives the server a credential; the rollback must take it away again.
    change: ['    # auth: ${TICKETS_TOKEN}', '    auth: ${TICKETS_TOKEN}'],
    changes: 'tools',
    async prepare(folder) {
      await startTickets(folder);
      for (const mode of ['test', 'live'] as const)
        await call(mode, 'secrets', 'set', 'TICKETS_TOKEN', '--value', `token-of-${mode}`);
    },
  },
];

const edit = async (file: string, from: string, to: string) => {
  const text = await readFile(file, 'utf8');
  expect(text).toContain(from);
  await writeFile(file, text.replace(from, to));
};

describe('three companies', () => {
  it.each(companies)(
    '$template goes from empty to live, changes, rolls back and leaves nothing [VER-740, VER-741, VER-745]',
    async ({ template, ask, before, document, after, prepare, change, changes }) => {
      isProgram = template === 'support-desk';
      const empty = await stateOf();
      await vestra('test', ['init', '--template', template]);
      const folder = join(root, template);
      await prepare?.(folder);

      // Plans write nothing.
      const prepared = await stateOf();
      expect(await vestra('test', ['diff', template, '--exit-code'], 2)).toContain('a version would be saved');
      await vestra('live', ['apply', template, '--dry-run', '--exit-code'], 2);
      expect(await stateOf()).toEqual(prepared);

      // Draft, tests, promotion after tests.
      expect(await vestra('test', ['apply', template])).toContain(`${template}: version 1 is active for test keys`);
      expect(await vestra('test', ['diff', template, '--exit-code'])).toContain('nothing would change');
      await vestra('test', ['test', template]);
      expect((await call('live', 'deployments', 'get', template)).live_version).toBe(null);
      const { test_run } = await call('live', 'deployments', 'promote', template, '--when', 'after_tests');
      await vestra('live', ['test-runs', 'events', test_run.id]);
      expect(await call('live', 'test-runs', 'get', test_run.id)).toMatchObject({ status: 'passed', promoted: true });
      expect(await vestra('live', ['ask', ask, '--deployment', template])).toContain(before);
      const first = await liveOf(template, ask);
      expect(first).toMatchObject({ version: 1, missing: [] });

      // A change of a document and of the file, first saved only.
      await edit(join(folder, document), before, after);
      await edit(join(folder, 'service.yaml'), ...change);
      expect(await vestra('live', ['diff', template, '--exit-code'], 2)).toContain(changes);
      expect(await vestra('live', ['apply', template, '--promote', 'no'])).toContain('version 2 is saved');
      expect(await liveOf(template, ask)).toEqual(first);
      expect(await vestra('live', ['apply', template])).toContain('version 2 is live');
      expect(await vestra('live', ['ask', ask, '--deployment', template])).toContain(after);
      const second = await liveOf(template, ask);
      expect(second.yaml).not.toBe(first.yaml);
      const { changes: changed } = await call('live', 'versions', 'content-changes', template, '2');
      expect(changed).toHaveLength(1);

      // Back: everything that live depends on is as it was, and forward again.
      await vestra('live', ['deployments', 'rollback', template]);
      expect(await liveOf(template, ask)).toEqual(first);
      expect(await vestra('live', ['ask', ask, '--deployment', template])).toContain(before);
      await vestra('live', ['deployments', 'promote', template, '--version', '2', '--when', 'now']);
      expect(await liveOf(template, ask)).toEqual(second);
      expect((await call('live', 'versions', 'list', template)).data).toHaveLength(2);

      // An exported file applied again changes nothing.
      await writeFile(join(root, `${template}.yaml`), second.yaml);
      expect(await vestra('live', ['apply', `${template}.yaml`])).toContain('Nothing changed: version 2 stays');

      // Empty again.
      const { notebooks, skills, mcp_servers } = second.manifest;
      await vestra('live', ['deployments', 'archive', template]);
      await vestra('live', ['deployments', 'delete', template]);
      for (const id of notebooks) await call('live', 'notebooks', 'delete', id);
      for (const { id } of skills) if (id) await call('live', 'skills', 'delete', id);
      for (const { id } of mcp_servers) await call('live', 'mcp-servers', 'delete', id);
      if (template === 'it-desk')
        for (const mode of ['test', 'live'] as const) await call(mode, 'secrets', 'delete', 'TICKETS_TOKEN');
      expect(await stateOf()).toEqual(empty);
    },
    600_000,
  );

  it('serves a refund to a live customer after approval [VER-740]', async () => {
    await vestra('live', ['init', '--template', 'support-desk', '--out', 'refunds', '--deployment', 'refunds']);
    await vestra('live', ['apply', 'refunds']);
    note(['functions', 'serve']);
    const serving = startCli(['functions', 'serve', 'refunds/functions.js', '--deployment', 'refunds'], {
      cwd: root,
      env: envOf('live'),
    });
    onTestFinished(() => void serving.child.kill());
    await serving.until(({ err }) => err.includes('Answering '));
    const asked = ['ask', 'Please refund 20 dollars for order MT-1042.', '--deployment', 'refunds', '--user', 'nora'];
    await vestra('live', asked, 5);
    expect(await vestra('live', ['answer', '--user', 'nora', '--approve', '--present-user'])).toContain('approved');
    await serving.until(({ err }) => err.includes('refund_order'));
  }, 600_000);
});

describe('every configuration command', () => {
  it('answers once for a configured deployment [VER-742]', async () => {
    const t = (...words: string[]) => call('test', ...words);
    const { id: deployment } = await t('deployments', 'create', '--name', 'Wide', '--slug', 'wide');
    await t('deployments', 'put', 'wide', '--name', 'wide', '--instructions', 'Be kind.', '--promote', 'now');
    await t('deployments', 'update', 'wide', '--description', 'Wide.');
    await t('deployments', 'promote', 'wide', '--when', 'now');
    expect((await t('versions', 'get', deployment, '2')).manifest.instructions).toBe('Be kind.');

    const scenario = await t(
      ...['scenarios', 'create', 'wide', '--name', 'Greets', '--persona', 'A person.', '--goal', 'Hello'],
      ...['--success-criteria', 'The agent never calls finish_all.'],
    );
    await t('scenarios', 'get', 'wide', scenario.id);
    await t('scenarios', 'update', 'wide', scenario.id, '--goal', 'Hello there');
    expect((await t('scenarios', 'generate', 'wide', '--count', '1')).data).toHaveLength(1);
    const run = await t('test-runs', 'create', 'wide');
    await t('test-runs', 'cancel', run.id);
    await t('test-runs', 'list', 'wide');
    await t('test-runs', 'delete', run.id);
    expect((await t('scenarios', 'list', 'wide')).data).toHaveLength(1);
    await t('scenarios', 'delete', 'wide', scenario.id);

    await vestra('test', ['ask', 'Hello?', '--deployment', 'wide']);
    const replay = await t('replays', 'create', 'wide', '--version', '1', '--last', '1');
    await t('replays', 'get', replay.id);
    await t('replays', 'cancel', replay.id);
    await t('replays', 'list', 'wide');
    await t('replays', 'delete', replay.id);
    expect((await t('insights', 'wide', '--kind', 'tool_error')).data).toEqual([]);
    const [{ id: talk }] = (await t('conversations', 'list', '--limit', '1')).data;
    const from = JSON.stringify({ type: 'conversations', conversation_ids: [talk] });
    const improvement = await t('improvements', 'create', 'wide', '--from', from, '--budget-usd', '5');
    await t('improvements', 'cancel', improvement.id);
    expect((await t('improvements', 'get', improvement.id)).finished_at).not.toBeNull();
    expect((await t('improvements', 'list', 'wide')).data).toHaveLength(1);

    await writeFile(join(root, 'hours.html'), '<h1>Hours</h1><p>Nine to five.</p>');
    expect((await t('documents', 'convert', 'hours.html')).text).toContain('Nine to five.');
    const { id: notebook } = await t('notebooks', 'create', '--name', 'Faq', '--slug', 'faq');
    await t('notebooks', 'update', notebook, '--description', 'Questions.');
    const document = await t('documents', 'create', notebook, '--title', 'Hours', '--text', 'Nine to five.');
    await t('documents', 'get', notebook, document.id);
    expect((await t('documents', 'list', notebook)).data).toHaveLength(1);
    await t('notebooks', 'get', notebook);
    await t('documents', 'delete', notebook, document.id);
    await t('notebooks', 'delete', notebook);

    const skillFile = join(root, 'refunds/skills/returns');
    const { id: skill } = await t('skills', 'create', '--file', skillFile);
    await t('skills', 'get', skill);
    await t('skills', 'replace', skill, '--file', skillFile);
    expect((await t('skills', 'versions', skill)).data.length).toBeGreaterThan(0);
    await t('skills', 'delete', skill);

    const { id: tools } = await t(
      ...['mcp-servers', 'create', '--name', 'Tools', '--slug', 'tools', '--url', 'https://tools.example.com/mcp'],
    );
    await t('mcp-servers', 'get', tools);
    await t('mcp-servers', 'update', tools, '--name', 'Better tools');
    await t('mcp-servers', 'check', tools);
    await t('mcp-servers', 'delete', tools);

    const hook = `${server.url}/v1/health`;
    const { id: endpoint } = await t('webhooks', 'create', '--url', hook, '--events', 'webhook.test');
    await t('webhooks', 'get', endpoint);
    await t('webhooks', 'update', endpoint, '--description', 'Tests.');
    await t('webhooks', 'roll-secret', endpoint);
    const delivery = await t('webhooks', 'test', endpoint);
    expect(delivery.object).toContain('webhook');
    await expect.poll(async () => (await t('webhooks', 'deliveries', endpoint)).data.length).toBeGreaterThan(0);
    const [sent] = (await t('webhooks', 'deliveries', endpoint)).data;
    await expect.poll(async () => (await t('webhooks', 'deliveries', endpoint)).data[0].status).not.toBe('pending');
    await t('webhooks', 'retry', endpoint, sent.id);
    await t('webhooks', 'delete', endpoint);

    await t('functions', 'set-endpoint', 'wide', '--url', 'https://example.com/functions');
    await t('functions', 'endpoint', 'wide');
    await t('functions', 'roll-secret', 'wide');
    await t('functions', 'list', 'wide');
    await t('functions', 'delete-endpoint', 'wide');

    await t('deployments', 'archive', 'wide');
    await t('deployments', 'unarchive', 'wide');
    await t('deployments', 'delete', 'wide');
  }, 600_000);

  it('is played by this file; a new one must be added [VER-742]', () => {
    expect(covered.length).toBeGreaterThan(60);
    expect(covered.filter((name) => !played.has(name))).toEqual([]);
  });
});
