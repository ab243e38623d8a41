import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ApplyError, applyFolder } from '@vestra/sdk/apply';
import { type Client, createClient } from '@vestra/sdk/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../support/server.ts';

/** A skill with a fault at this file and line (-1: any), and a part of the message. Null: every reader accepts it. */
type Case = { files: Record<string, string>; fault: [file: string, line: number | null, why: string] | null };

const megabyte = 1024 * 1024;
const good = '---\nname: a\ndescription: b\n---\nText.\n';
const main = (content: string, line: number, why: string): Case => ({
  files: { 'SKILL.md': content },
  fault: ['SKILL.md', line, why],
});
const head = (lines: string, line: number, why: string) => main(`---\n${lines}\n---\nText.\n`, line, why);
const accepted = (lines: string): Case => ({ files: { 'SKILL.md': `---\n${lines}\n---\nText.\n` }, fault: null });
const beside = (files: Record<string, string>, fault: Case['fault']): Case => ({
  files: { 'SKILL.md': good, ...files },
  fault,
});
const numbered = (count: number, content: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}.md`, content]));
const deep = (characters: number) => `${'d/'.repeat((characters - 1) >> 1)}${'f'.repeat(2 - (characters % 2))}`;

const cases: Record<string, Case> = {
  'no frontmatter': main('Text.\n', 1, 'must open with YAML frontmatter'),
  'an unclosed frontmatter': main('---\nname: a\ndescription: b\n', 1, 'must open with YAML frontmatter'),
  'a frontmatter in another language': main('---js\nname: a\n---\n', 1, 'must open with YAML frontmatter'),
  'a frontmatter after an empty line': main('\n---\nname: a\n---\n', 1, 'must open with YAML frontmatter'),
  'a bad name': head('description: b\nname: Bad Name', 3, '`name` is 1 to 64'),
  'a name that ends with a line': head('name: "a\\n"\ndescription: b', 2, '`name` is 1 to 64'),
  'a name with two hyphens': head('name: a--b\ndescription: b', 2, '`name` is 1 to 64'),
  'a name with spaces around it': head('name: " a "\ndescription: b', 2, '`name` is 1 to 64'),
  'a name of 65 characters': head(`name: ${'x'.repeat(65)}\ndescription: b`, 2, '`name` is 1 to 64'),
  'a number as name': head('name: 7\ndescription: b', 2, '`name` must be text'),
  'null as name': head('name: ~\ndescription: b', 2, '`name` must be text'),
  'no name': head('description: b', 1, '`name` is missing'),
  'no description': head('name: a', 1, '`description` is missing'),
  'an empty description': head('name: a\ndescription: " "', 3, '`description` is 1 to 1024'),
  'a description without a value': head('name: a\ndescription:', 3, '`description` must be text'),
  'a long description': head(`name: a\ndescription: ${'x'.repeat(1025)}`, 3, '`description` is 1 to 1024'),
  'a number as description': head('name: a\n# A remark.\ndescription: 5', 4, '`description` must be text'),
  'a list as licence': head('name: a\ndescription: b\nlicense: [x]', 4, '`license` must be text'),
  'a long compatibility': head(
    `name: a\ndescription: b\ncompatibility: ${'x'.repeat(501)}`,
    4,
    '`compatibility` is 1 to 500',
  ),
  'an empty compatibility': head('name: a\ndescription: b\ncompatibility: ""', 4, '`compatibility` is 1 to 500'),
  'a list as metadata': head('name: a\ndescription: b\nmetadata: [x]', 4, '`metadata` maps'),
  'metadata of maps': head('name: a\ndescription: b\nmetadata: { a: { b: c } }', 4, '`metadata` maps'),
  'metadata with an infinite number': head('name: a\ndescription: b\nmetadata: { a: .inf }', 4, '`metadata` maps'),
  'a map as tools': head('name: a\ndescription: b\nallowed-tools: { a: b }', 4, '`allowed-tools` is a text'),
  'numbers as tools': head('name: a\ndescription: b\nallowed-tools: [1]', 4, '`allowed-tools` is a text'),
  'a list': head('- name', 1, 'lines of `name: value`'),
  'a word': head('refunds', 1, 'lines of `name: value`'),
  'an empty frontmatter': main('---\n---\n', 1, 'lines of `name: value`'),
  'broken YAML': head('name: a\ndescription: [', 3, 'not plain YAML: The [ that begins here is not closed with ].'),
  'a colon in a plain text': head(
    'name: a\ndescription: Do this: now',
    3,
    'not plain YAML: The value contains a colon.',
  ),
  'a field twice': head('name: a\nname: b\ndescription: c', 3, 'not plain YAML: `name` is in this block already'),
  'an unknown tag': head(
    'name: !x a\ndescription: c',
    2,
    'not plain YAML: The tag `!x` has no meaning here: remove it.',
  ),
  'two unknown tags': head('name: !x a\ndescription: !y c', 2, 'not plain YAML: The tag `!x` has no meaning here'),
  'a list as key': head(
    '? [a]\n: b\nname: a\ndescription: c',
    2,
    'not plain YAML: A key is one text, such as `name:`.',
  ),
  'no colon': head('name\ndescription: c', 2, 'not plain YAML: A colon is missing after `name`.'),
  'an alias': head('name: &a x\ndescription: *a', 1, 'alias'),
  'an alias in a field that no rule names': head('name: a\ndescription: b\nx: &x [1]\ny: *x', 1, 'alias'),
  'endless nesting': head(`name: ${'['.repeat(8000)}`, -1, 'not plain YAML'),
  'a long frontmatter': head(`name: a\ndescription: b\nx: ${'y'.repeat(8192)}`, 1, 'longer than 8192'),
  'a frontmatter of emoji': head(`name: a\ndescription: b\nx: ${'😀'.repeat(4100)}`, 1, 'longer than 8192'),
  'a backslash in a path': beside({ 'a\\b.md': 'x' }, ['a\\b.md', null, 'has a backslash']),
  'a control character in a path': beside({ 'a\u0007.md': 'x' }, ['a\u0007.md', null, 'has a backslash or a control']),
  'a drive as folder': beside({ 'c:/a.md': 'x' }, ['c:/a.md', null, 'is not relative']),
  'a path of 201 characters': beside({ [deep(201)]: 'x' }, [deep(201), null, 'more than the 200 characters']),
  'two paths that differ in case': beside({ 'docs/A.md': 'x', 'docs/a.md': 'y' }, [
    'docs/a.md',
    null,
    'is there twice',
  ]),
  'a file where a folder is needed': beside({ A: 'x', 'a/b.md': 'y' }, ['a/b.md', null, 'needs a folder']),
  'a large file': beside({ 'big.md': 'é'.repeat(megabyte / 2 + 1) }, ['big.md', null, 'larger than the 1048576']),
  'too much together': beside(numbered(5, 'x'.repeat(megabyte)), ['', null, 'larger than the 5242880']),
  'too many files': beside(numbered(200, 'x'), ['', null, 'at most 200 files']),
  'a NUL byte': beside({ 'a.md': 'x\0' }, ['a.md', null, 'text files only']),
  'every field, and fields of other programs': accepted(
    [
      'name: refunds',
      'description: >',
      '  How refunds are made,',
      '  step by step.',
      'license: Apache-2.0',
      'compatibility: " "',
      'metadata: { author: shop, version: 1.2, draft: false }',
      'allowed-tools: [run_command]',
      'hooks: [{ on: start }]',
      '<<: 5',
    ].join('\n'),
  ),
  'a byte order mark and Windows line ends': {
    files: { 'SKILL.md': '\uFEFF--- \r\nname: a\r\ndescription: b\r\n---\t\r\n' },
    fault: null,
  },
  'the longest texts': accepted(
    `name: ${'x'.repeat(64)}\ndescription: ${'😀'.repeat(1024)}\ncompatibility: ${'x'.repeat(500)}`,
  ),
  'an anchor without an alias': accepted('name: &a a\ndescription: b'),
  'a path of 200 characters': beside({ [deep(200)]: 'x' }, null),
};

type Seen = { file: string; line: number | null; message: string };

let server: TestServer;
let client: Client;
let root: string;
let folders: Record<string, string>;
let inPython: Record<string, Seen[]>;

beforeAll(async () => {
  server = await startTestServer();
  client = createClient({ baseUrl: server.url, key: server.testKey });
  root = await mkdtemp(join(tmpdir(), 'vestra-skill-rules-'));
  folders = Object.fromEntries(
    await Promise.all(
      Object.entries(cases).map(async ([name, { files }], index) => {
        const folder = join(root, String(index));
        await mkdir(folder);
        await writeFile(join(folder, 'service.yaml'), 'name: skill-rules\nskills: s\n');
        for (const [path, content] of Object.entries(files)) {
          await mkdir(dirname(join(folder, 's', path)), { recursive: true });
          await writeFile(join(folder, 's', path), content);
        }
        return [name, folder];
      }),
    ),
  );
  inPython = await plansInPython();
});
afterAll(async () => {
  await server.stop();
  await rm(root, { recursive: true, force: true });
});

/** The problems that the Python client finds in each folder. */
async function plansInPython(): Promise<typeof inPython> {
  const program = [
    'import json, sys, vestra',
    'seen = {}',
    'with vestra.Vestra() as client:',
    '    for name, folder in json.load(sys.stdin).items():',
    '        try:',
    '            client.apply(folder, dry_run=True)',
    '            seen[name] = []',
    '        except vestra.ApplyError as error:',
    '            seen[name] = list(error.problems)',
    'print(json.dumps(seen))',
  ].join('\n');
  const env = {
    ...process.env,
    PYTHONPATH: join(import.meta.dirname, '../../packages/python/src'),
    PYTHONDONTWRITEBYTECODE: '1',
    VESTRA_URL: server.url,
    VESTRA_KEY: server.testKey,
  };
  const python = spawn('/usr/bin/python3', ['-c', program], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  python.stdin.end(JSON.stringify(folders));
  return JSON.parse(await text(python.stdout));
}

const planned = (name: string): Promise<readonly Seen[]> =>
  applyFolder({ client, folder: folders[name] as string, dryRun: true }).then(
    () => [],
    (error) => {
      if (!(error instanceof ApplyError)) throw error;
      return error.problems;
    },
  );

it.each(Object.entries(cases))(
  'a skill with %s is judged the same by the upload and by both clients [PLAN-780, PLAN-785]',
  async (name, { files, fault }) => {
    const sent = Object.entries(files).map(([path, content]) => ({ path, content }));
    const uploaded = await server.call('POST', '/v1/skills?slug=judged', { body: { files: sent } });
    if (uploaded.status === 201) await server.call('DELETE', `/v1/skills/${uploaded.body.id}`);
    const [typeScript, python] = [await planned(name), inPython[name] as Seen[]];
    if (fault === null) {
      expect([uploaded.status, typeScript, python]).toEqual([201, [], []]);
      return;
    }
    const [path, line, why] = fault;
    expect([uploaded.status, uploaded.body.error?.type]).toEqual([400, 'invalid_request']);
    const file = path === '' ? 's' : `s/${path}`;
    for (const problems of [typeScript, python]) {
      const place = { file, line: line === -1 ? expect.any(Number) : line };
      expect(problems).toContainEqual(expect.objectContaining({ ...place, message: expect.stringContaining(why) }));
      expect(problems.length).toBeLessThan(20);
    }
    // The parsers have their own words for broken YAML, and see one fault or several.
    const isOfParser = why === 'not plain YAML';
    const shown = ({ file, line, message }: Seen) => ({ file, line, message });
    if (!isOfParser) expect(python.map(shown)).toEqual(typeScript.map(shown));
    // The sentence of the rule is in the service's refusal as well, unless the form of the request is refused first.
    if (!uploaded.body.error.param.endsWith('.path')) {
      expect(uploaded.body.error.message.toLowerCase()).toContain(why.toLowerCase());
    }
  },
);
