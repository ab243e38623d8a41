import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../client.ts';
import { type ApplyError, applyFolder } from './apply.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'vestra-apply-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const plan = { object: 'plan', changed: [], faults: [], missing_secrets: [], warnings: [], tests_to_run: [] };
const converted = { object: 'converted_document', text: 'A.', sha256: 'ab', content_type: 'text/plain' };

/** Applies a folder to a service that accepts everything, and returns the requests that write something. */
async function apply(files: Record<string, string | Uint8Array>): Promise<Record<string, unknown>[]> {
  const folder = await mkdtemp(join(root, 'folder-'));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  const sent: Record<string, unknown>[] = [];
  const client = createClient({
    baseUrl: 'https://vestra.example.com',
    key: 'vk_test_1',
    fetch: async (url, init) => {
      if (init?.method === 'GET') return Response.json({ data: [], next_cursor: null });
      if (String(url).includes('dry_run=true')) return Response.json(plan);
      if (String(url).endsWith('/notebooks/convert')) return Response.json(converted);
      sent.push(JSON.parse(String(init?.body)));
      return Response.json({ id: 'made', version: { manifest: { mcp_servers: [] } } });
    },
  });
  await applyFolder({ client, folder });
  return sent;
}

describe('`computer.setup`', () => {
  const setup = async (written: string, files: Record<string, string> = {}) => {
    const [sent] = await apply({
      'service.yaml': `name: desk\ncomputer:\n  env: { A: b }\n  setup: ${written}\n`,
      ...files,
    });
    return sent?.computer;
  };

  it.each([
    ['a file', 'prepare.sh', { 'prepare.sh': 'apt update\n' }, 'apt update\n'],
    ['a file in a folder', './scripts/prepare', { 'scripts/prepare': 'true' }, 'true'],
    ['a word that is a file', 'make', { make: 'true' }, 'true'],
    ['a word that is none', 'make', {}, 'make'],
    ['a word that is a folder', 'make', { 'make/x': '' }, 'make'],
    ['a command', './prepare.sh --all', { 'prepare.sh': 'no' }, './prepare.sh --all'],
    ['a command of the computer', '/usr/bin/prepare.sh', {}, '/usr/bin/prepare.sh'],
    ['a script', '|\n    npm ci\n    npm test', {}, 'npm ci\nnpm test\n'],
  ])('that is %s is read as such', async (_, written, files, wanted) => {
    expect(await setup(written, files as Record<string, string>)).toEqual({ env: { A: 'b' }, setup: wanted });
  });

  it.each([
    ['./prepare.sh', 'There is no `prepare.sh`'],
    ['prepare.sh', 'There is no `prepare.sh`'],
    ['../prepare.sh', 'is outside the folder'],
    ['.env', 'never read'],
  ])('is rejected if it must be a file and cannot be read: %s', async (written, message) => {
    const error = (await setup(written, { '.env': 'SECRET=1' }).catch((each) => each)) as ApplyError;
    expect(error.problems).toMatchObject([{ line: 4, column: 3, message: expect.stringContaining(message) }]);
  });
});

describe('local faults are reported together, and nothing is written', () => {
  const head = (name: string) => `---\r\nname: ${name}\r\ndescription: x\r\n---\r\n`;

  it.each<[string, Record<string, string | Uint8Array>, string[]]>([
    ['no such folder', {}, ['service.yaml:2:1 skills: There is no `s`. Correct the path, or add the file.']],
    ['a file for a folder', { s: 'x' }, ['service.yaml:2:1 skills: `s` is a file: name the folder of the skill.']],
    [
      'nothing in it',
      { 's/README.md': 'x' },
      ['service.yaml:2:1 skills: `s` has no SKILL.md, and holds no folder that has one.'],
    ],
    [
      'a folder that is no skill',
      { 's/a/SKILL.md': head('a'), 's/b/skill.md': head('b') },
      ['service.yaml:2:1 skills: `s/b` has no SKILL.md: every folder in `s` is to be a skill.'],
    ],
    [
      'a name twice',
      { 's/a/SKILL.md': head('same'), 's/b/SKILL.md': head('same') },
      ['service.yaml:2:1 skills: `s/b` and `s/a` are both named `same`.'],
    ],
    [
      'files that are no text, and no frontmatter',
      { 's/SKILL.md': 'Do it.', 's/a.bin': Uint8Array.of(1, 0, 1), 's/b.bin': Uint8Array.of(255, 254) },
      ['s/SKILL.md:1:1 It must open', 's/a.bin: A skill can contain tex', 's/b.bin: A skill can contain tex'],
    ],
  ])('with skills: %s', async (_, files, wanted) => {
    const error = await apply({ 'service.yaml': 'name: desk\nskills: s\n', ...files }).catch((each) => each);
    const lines: string[] = error.message.split('\n');
    expect(lines.map((line, at) => line.slice(0, wanted[at]?.length)).sort()).toEqual([...wanted].sort());
  });

  it('in knowledge: a picture, a duplicate path, one title for two files', async () => {
    const error = await apply({
      'service.yaml': 'name: desk\nknowledge:\n  - logo.png\n  - docs\n  - ./docs/\n  - twins\n',
      'logo.png': Uint8Array.of(137, 0),
      'docs/a.md': 'A.',
      'twins/a/b.pdf': '%PDF',
      'twins/a - b.pdf': '%PDF',
    }).catch((each) => each);
    expect(error.message.split('\n')).toEqual([
      'service.yaml:3:5 knowledge.0: `logo.png` is neither text in UTF-8 nor a PDF, DOCX, XLSX, PPTX or HTML file.',
      'service.yaml:5:5 knowledge.2: `docs` is named twice.',
      'twins/a/b.pdf: Another file has a document of the title `a - b.pdf` too.',
    ]);
  });
});

it('describes a notebook by its contents within 300 characters [APPLY-261]', async () => {
  const described = async (files: Record<string, string>) => {
    const sent = await apply({ 'service.yaml': 'name: desk\nknowledge: docs\n', ...files });
    return sent.find((each) => 'slug' in each)?.description as string;
  };
  expect(
    await described({
      'docs/a.md': 'Hello.\n\n# Returns and refunds #\n\n## Late\n',
      'docs/opening_hours.txt': 'Nine to five.',
      'docs/deep/price-list.txt': 'Chair 5, table 9.',
    }),
  ).toBe('From docs: Returns and refunds; price list; opening hours.');
  const many = Object.fromEntries(
    Array.from({ length: 90 }, (_, at) => [`docs/${100 + at}.md`, `# Topic ${100 + at}`]),
  );
  const long = await described(many);
  expect(long).toMatch(/^From docs: Topic 100; Topic 101; .+; and \d\d more\.$/);
  expect(long.length).toBeLessThanOrEqual(300);
  expect([...(await described({ 'docs/a.md': `# ${'💥'.repeat(400)}` }))].length).toBeLessThanOrEqual(300);
});

it('creates the same notebook for a path each time, with a valid slug', async () => {
  const slugOf = async (name: string, path: string) => {
    const sent = await apply({ 'service.yaml': `name: "${name}"\nknowledge: "${path}"\n`, [`${path}/a.md`]: 'A.' });
    return sent.find((each) => 'slug' in each)?.slug as string;
  };
  const long = `9${'desk-'.repeat(12)}x`;
  const slugs = [
    await slugOf('desk', 'docs'),
    await slugOf(long, 'Über uns'),
    await slugOf('1', '2'),
    await slugOf('desk-d', 'ocs'),
  ];
  for (const slug of slugs) expect(slug).toMatch(/^[a-z][a-z0-9-]{0,39}$/);
  expect(new Set(slugs).size).toBe(4);
  expect(await slugOf('desk', 'docs')).toBe(slugs[0]);
});
