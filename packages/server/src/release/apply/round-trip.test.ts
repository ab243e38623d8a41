import { deploymentFile } from '@vestra/contract/deployment-file';
import { newId } from '@vestra/contract/ids';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { addressOf } from '../../agents/tool-servers/index.ts';
import type { RegisteredServer } from '../../agents/tool-servers/tables.ts';
import { anyFile } from './file-arbitrary.fixture.ts';
import { changedFileKeys, environmentOf, fileToManifest, manifestToFile } from './manifest.ts';
import { type DeploymentFile, type FileKey, fileKeys, type ServerEntry, type WrittenFile } from './parts.ts';
import { renderYaml } from './render-yaml.ts';
import { nameOfServer, wantedHeaders } from './servers.ts';

const read = (file: WrittenFile): DeploymentFile => deploymentFile.parse(file);
const entriesOf = (file: DeploymentFile): ServerEntry[] => file.tools.filter((entry) => 'mcp' in entry);

/** Servers as the first apply would register them. */
const registered = (file: DeploymentFile): RegisteredServer[] =>
  entriesOf(file).map((entry, at) => ({
    id: newId('mcp'),
    slug: `server-${at}`,
    name: nameOfServer(entry),
    url: entry.mcp,
    headers: wantedHeaders(entry) ?? {},
  }));

const savedOf = (file: DeploymentFile, servers = registered(file)) => fileToManifest(file, servers);

/** The file with all defaults, in one notation. */
function spelledOut(file: DeploymentFile): unknown {
  const servers = entriesOf(file).map(({ auth: _, ...entry }) => ({
    ...entry,
    name: nameOfServer(entry),
    headers: wantedHeaders({ auth: _, headers: entry.headers }) ?? {},
  }));
  const functions = file.tools.filter((entry) => 'function' in entry);
  const { $schema: __, computer, ...rest } = file;
  const whole = { ...rest, tools: [...servers, ...functions], computer: environmentOf(computer) };
  return JSON.parse(JSON.stringify(whole));
}

const lowerHeaders = (file: DeploymentFile) =>
  entriesOf(file).every(({ headers = {}, auth }) => {
    const names = [...Object.keys(headers), ...(auth === undefined ? [] : ['authorization'])];
    return new Set(names.map((name) => name.toLowerCase())).size === names.length;
  });

/** Files without repeated servers or headers, which an apply accepts. */
const applicable = () =>
  anyFile()
    .map((file) => ({ ...file, ...ids() }))
    .filter((file) => {
      const addresses = entriesOf(read(file)).map(({ mcp }) => addressOf(mcp));
      return new Set(addresses).size === addresses.length && lowerHeaders(read(file));
    });

const ids = (): Partial<WrittenFile> => ({
  skills: [{ id: newId('skl') }, { name: 'spreadsheets' }],
  knowledge: [{ notebook: newId('nb') }],
});

describe('a file becomes a manifest, the manifest YAML, and the YAML the same file [DEP-018]', () => {
  it('whatever is in it, and applied again it changes nothing [VER-016]', () => {
    fc.assert(
      fc.property(applicable(), (file) => {
        const before = read(file);
        const servers = registered(before);
        const saved = savedOf(before, servers);
        const kept = JSON.parse(JSON.stringify(saved));
        const yaml = renderYaml(manifestToFile(file.name, kept, new Map(servers.map((each) => [each.id, each]))));
        const after = read(parse(yaml));
        expect(spelledOut(after)).toEqual(spelledOut(before));
        expect(changedFileKeys(kept, savedOf(after, servers))).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it.each([' \n', '\n', '  a\n b', '\ta\n', 'a\n ', 'a\n\n', ' a', `${'\u001b'.repeat(40)}\n \nb`])(
    'with the text %j as it is',
    (text) => {
      const yaml = renderYaml({ name: 'a', instructions: text });
      expect(parse(yaml)).toEqual({ name: 'a', instructions: text });
    },
  );

  it('a file with only a name stays so [DFILE-003]', () => {
    expect(parse(renderYaml(manifestToFile('shop', savedOf(read({ name: 'shop' })), new Map())))).toEqual({
      name: 'shop',
    });
  });

  it('is readable: keys in order, a comment on each, text as written', () => {
    const file = read({
      name: 'shop',
      tests: [{ name: 'Greets', ask: 'Hello?', expect: 'It greets.' }],
      tools: [
        { function: 'find_order', description: 'Find an order.', input: { order: 'string' } },
        { mcp: 'https://tools.example.com/mcp', auth: '${secret:CRM}', headers: { 'X-Region': 'eu' } },
      ],
      language: 'no',
      instructions: 'You are kind.\nYou are brief.\n',
      limits: { max_steps: 20, max_minutes: 60 },
    });
    const servers = registered(file);
    const saved = savedOf(file, servers);
    expect(renderYaml(manifestToFile('shop', saved, new Map(servers.map((each) => [each.id, each]))))).toBe(
      `# The deployment file of shop. Every key is described in docs/deployment-file-reference.md.

name: shop

# The instructions that the agent reads before every conversation. docs/deployment-file-reference.md#instructions
instructions: |
  You are kind.
  You are brief.

# A language tag, or auto to follow each user. docs/deployment-file-reference.md#language
language: "no"

# MCP servers, and functions that your own code answers. docs/deployment-file-reference.md#tools
tools:
  - mcp: https://tools.example.com/mcp
    auth: \${CRM}
    headers:
      X-Region: eu
  - function: find_order
    description: Find an order.
    input:
      order: string

# Where one task or one turn stops. docs/deployment-file-reference.md#limits
limits:
  max_steps: 20

# Pretend users; a version goes live when all of them are content. docs/deployment-file-reference.md#tests
tests:
  - name: Greets
    ask: Hello?
    expect: It greets.
`,
    );
  });

  it('writes a server as registered now, and a deleted one with its last URL', () => {
    const file = read({ name: 'shop', tools: [{ mcp: 'https://a.example/mcp' }, { mcp: 'https://b.example/mcp' }] });
    const [first, second] = registered(file) as [RegisteredServer, RegisteredServer];
    const moved = {
      ...first,
      url: 'https://c.example/mcp',
      name: 'CRM',
      headers: { Authorization: 'Basic ${secret:A}' },
    };
    expect(manifestToFile('shop', savedOf(file, [first, second]), new Map([[first.id, moved]])).tools).toEqual([
      { mcp: 'https://c.example/mcp', name: 'CRM', headers: { Authorization: 'Basic ${A}' } },
      { mcp: 'https://b.example/mcp' },
    ]);
  });
});

describe('where the parts of a file stand in the manifest', () => {
  const notebook = newId('nb');
  const lists = {
    allow: ['drop', 'pay', 'note'],
    deny: ['drop'],
    require_approval: ['pay'],
    run_without_asking: 'all' as const,
    approver: 'org' as const,
  };
  const lookup = { function: 'look_up', description: 'Looks up.', input: {}, timeout_s: 120, read_only: true };
  const file = read({
    name: 'shop',
    instructions: 'Be kind.',
    language: 'en',
    model: 'offline',
    apps: ['mail'],
    tools: [lookup, { mcp: 'https://a.example/mcp', ...lists }, { mcp: 'https://b.example/mcp' }],
    skills: [{ name: 'spreadsheets' }],
    knowledge: [{ notebook }],
    approvals: ['delete'],
    memory: 'none',
    computer: { setup: 'apt update', env: { A: 'b' } },
    browser: { allowed_domains: ['example.com'] },
    limits: { per_task_usd: 2 },
    routines: [{ ask: 'Report.', every: 'day at 08:00' }],
    tests: [{ name: 'Greets', ask: 'Hello?', expect: 'It greets.' }],
    webhooks: [{ url: 'https://hooks.example/in', events: '*' }],
  });
  const servers = registered(file);
  const { manifest, fileObjects } = savedOf(file, servers);

  it('functions are `tools` [MAN-004]', () => {
    expect(manifest.tools).toEqual([{ ...lookup, run_without_asking: false, approver: 'user' }]);
  });

  it('servers are `mcp_servers`, and their lists `mcp_tool_policy` [MAN-005, MAN-006]', () => {
    expect(manifest.mcp_servers).toEqual(servers.map(({ id, slug, url }) => ({ id, slug, url })));
    expect(manifest.mcp_tool_policy).toEqual({ 'server-0': lists });
  });

  it('`knowledge` is `notebooks`, and `computer` is `environment` [MAN-007, MAN-008]', () => {
    expect(manifest.notebooks).toEqual([notebook]);
    expect(manifest.environment).toEqual({ setup: 'apt update', repos: [], env: { A: 'b' }, files: [] });
  });

  it('all others keep their names [MAN-009]', () => {
    expect(manifest).toMatchObject({
      instructions: 'Be kind.',
      language: 'en',
      model: 'offline',
      apps: ['mail'],
      skills: [{ name: 'spreadsheets' }],
      approvals: ['delete'],
      memory: 'none',
      browser: { allowed_domains: ['example.com'] },
      limits: { per_task_usd: 2, max_steps: 100, max_minutes: 60 },
    });
  });

  it('tests, routines and webhooks are beside it [MAN-010]', () => {
    expect(Object.keys(manifest)).toHaveLength(14);
    expect(fileObjects).toEqual({ tests: file.tests, routines: file.routines, webhooks: file.webhooks });
  });
});

describe('what changed', () => {
  const changed = (one: Partial<WrittenFile>, other: Partial<WrittenFile>) =>
    changedFileKeys(savedOf(read({ name: 'shop', ...one })), savedOf(read({ name: 'shop', ...other })));
  const notebook = newId('nb');
  const test = { name: 'a', ask: 'b', expect: 'c' };
  const routine = { ask: 'Report.', every: 'day at 08:00' };
  const webhook = { url: 'https://hooks.example/in', events: '*' as const };
  const call = { function: 'a', description: 'b' };

  it.each<[key: FileKey, one: Partial<WrittenFile>, other?: Partial<WrittenFile>]>([
    ['instructions', { instructions: 'a' }],
    ['language', { language: 'en' }],
    ['model', { model: 'offline' }],
    ['reasoning', { reasoning: 'low' }],
    ['reasoning', { reasoning: 'off' }, { reasoning: 'high' }],
    ['apps', { apps: [] }],
    ['tools', { tools: [call] }],
    ['tools', { tools: [{ ...call, input: { a: 'string' } }] }, { tools: [{ ...call, input: { a: 'string?' } }] }],
    ['skills', { skills: [{ name: 'a' }] }],
    ['knowledge', { knowledge: [{ notebook }] }],
    ['approvals', { approvals: [] }],
    ['memory', { memory: 'vestra' }],
    ['computer', { computer: { setup: 'a' } }],
    ['computer', { computer: { repos: ['a.io/b/c'] } }, { computer: { repos: [{ url: 'a.io/b/c', ref: 'next' }] } }],
    ['browser', { browser: {} }],
    ['routines', { routines: [routine] }],
    ['routines', { routines: [routine] }, { routines: [{ ...routine, enabled: false }] }],
    ['limits', { limits: { max_steps: 1 } }],
    ['tests', { tests: [test] }],
    ['tests', { tests: [test] }, { tests: [{ ...test, never: 'd' }] }],
    ['webhooks', { webhooks: [webhook] }],
    ['webhooks', { webhooks: [webhook] }, { webhooks: [{ ...webhook, events: ['task.failed'] }] }],
  ])('is `%s` alone, there and back (%#) [APPLY-022]', (key, one, other = {}) => {
    expect(changed(one, other)).toEqual([key]);
    expect(changed(other, one)).toEqual([key]);
  });

  it.each<[what: string, one: Partial<WrittenFile>, other: Partial<WrittenFile>]>([
    ['a default that is written out', {}, { model: 'default', language: 'auto', apps: 'all', instructions: '' }],
    ['the default approvals', {}, { approvals: ['payment', 'booking', 'cancellation'] }],
    ['empty lists', {}, { tools: [], skills: [], knowledge: [], routines: [], tests: [], webhooks: [] }],
    ['default limits', {}, { limits: { max_minutes: 60, max_steps: 100 } }],
    ['a computer with nothing on it', {}, { computer: { setup: '', repos: [], env: {} } }],
    ['`$schema`', {}, { $schema: 'https://vestra.example/schema.json' }],
    [
      'defaults of a function',
      { tools: [call] },
      { tools: [{ ...call, input: {}, timeout_s: 120, read_only: false }] },
    ],
    ['the order of keys', { tools: [call] }, { tools: [{ description: 'b', function: 'a' }] }],
    [
      'defaults of a repo',
      { computer: { repos: ['a.io/b/c'] } },
      { computer: { repos: [{ url: 'https://a.io/b/c/', ref: 'main', path: 'c' }] } },
    ],
    ['one line or a list of one', { tests: [test] }, { tests: [{ ...test, expect: ['c'] }] }],
    [
      'the default persona',
      { tests: [test] },
      { tests: [{ ...test, persona: 'A person who uses this agent for the first time.' }] },
    ],
    [
      'the default name of a routine',
      { routines: [routine] },
      { routines: [{ ...routine, name: 'Report.', enabled: true }] },
    ],
    ['one user or a list of one', { routines: [{ ...routine, for: 'u' }] }, { routines: [{ ...routine, for: ['u'] }] }],
    ['all events', { webhooks: [webhook] }, { webhooks: [{ ...webhook, events: ['*'], description: '' }] }],
  ])('is not %s [VER-028]', (_what, one, other) => {
    expect(changed(one, other)).toEqual([]);
  });

  it('is at most the one key that was exchanged, in whatever file', () => {
    fc.assert(
      fc.property(applicable(), applicable(), fc.constantFrom(...fileKeys), (file, other, key) => {
        const one = read(file);
        const two = { ...one, [key]: read(other)[key] };
        const servers = registered(one);
        const found = changedFileKeys(savedOf(one, servers), savedOf(two, key === 'tools' ? registered(two) : servers));
        expect(found.filter((each) => each !== key)).toEqual([]);
        expect(changedFileKeys(savedOf(one, servers), savedOf(one, servers))).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });
});
