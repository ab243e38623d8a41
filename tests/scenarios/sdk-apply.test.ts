import { appendFile, cp, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ApplyError, type ApplyProgress, applyFolder } from '@vestra/sdk/apply';
import { type Client, createClient } from '@vestra/sdk/client';
import { pages } from '@vestra/sdk/pages';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { docxOf, paragraph, pdfOf } from '../../packages/server/src/agents/documents/files.fixture.ts';
import { examplesFolder } from '../support/example.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let client: Client;
let root: string;
/** Method and path of every change that was asked for. */
let changes: string[] = [];
beforeAll(async () => {
  server = await startTestServer();
  root = await mkdtemp(join(tmpdir(), 'vestra-sdk-apply-'));
  client = createClient({
    baseUrl: server.url,
    key: server.testKey,
    fetch: (address, init) => {
      if (init?.method !== 'GET')
        changes.push(`${init?.method} ${new URL(String(address)).pathname.replace(/_\w+/g, '')}`);
      return globalThis.fetch(address, init);
    },
  });
});
afterAll(async () => {
  await server.stop();
  await rm(root, { recursive: true, force: true });
});

async function folderWith(name: string, files: Record<string, string | Uint8Array>): Promise<string> {
  const folder = join(root, name);
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return folder;
}

async function apply(folder: string, rest: Partial<Parameters<typeof applyFolder>[0]> = {}) {
  changes = [];
  return applyFolder({ client, folder, promote: 'no', ...rest });
}

const refused = (folder: string, rest?: Parameters<typeof apply>[1]) =>
  apply(folder, rest).then(
    () => {
      throw new Error('The folder was applied.');
    },
    (error) => {
      expect(error).toBeInstanceOf(ApplyError);
      return (error as ApplyError).problems;
    },
  );

const skill = (name: string, more = '') =>
  `---\nname: ${name}\ndescription: How to do ${name}.\n---\n\nDo it.${more}\n`;

const namesOf = (uploaded: readonly { kind: string; action: string; name: string }[]) =>
  uploaded.map(({ kind, action, name }) => `${kind} ${action} ${name}`);

async function documentsOf(answer: { version: { manifest: { notebooks: readonly string[] } } } | null, index = 0) {
  const notebook_id = answer?.version.manifest.notebooks[index] as string;
  const found: { id: string; title: string; text: string }[] = [];
  for await (const { id } of pages(client.notebooks.listDocuments, { notebook_id })) {
    found.push(await client.notebooks.getDocument({ notebook_id, document_id: id }));
  }
  return found.sort((a, b) => (a.title < b.title ? -1 : 1));
}

describe('the examples', () => {
  it.each([
    ['booking-desk', ['document created practice.md']],
    [
      'research-helper',
      ['skill created weekly-brief', 'document created how-we-write.md', 'document created thermostats-portugal.md'],
    ],
    ['support-desk', ['skill created returns', 'document created care.md', 'document created returns-policy.md']],
  ])(
    '%s is applied with the files beside it, and the second time only the file is sent [APPLY-017, APPLY-019]',
    async (name, wanted) => {
      const folder = join(root, name);
      await cp(join(examplesFolder, name), folder, { recursive: true });
      const first = await apply(folder);
      expect(first.answer).toMatchObject({ slug: name, created: true, draft_version: 1 });
      expect(namesOf(first.uploaded).filter((each) => !each.startsWith('notebook'))).toEqual(wanted);
      expect(await documentsOf(first.answer)).toHaveLength(wanted.filter((each) => each.startsWith('document')).length);

      const again = await apply(folder);
      expect([again.uploaded, again.answer?.changed, again.answer?.version.version]).toEqual([[], [], 1]);
      // Looking whether a tool server answers changes nothing.
      expect(changes.filter((each) => !each.endsWith('/check'))).toEqual([`PUT /v1/deployments/${name}`]);
    },
  );

  it('with one file of a skill changed upload that skill again, and nothing else [APPLY-019]', async () => {
    const folder = join(root, 'research-helper');
    await appendFile(join(folder, 'skills/weekly-brief/SKILL.md'), '\nBe brief.\n');
    const { uploaded, answer } = await apply(folder);
    expect(namesOf(uploaded)).toEqual(['skill replaced weekly-brief']);
    expect(changes).toEqual([
      'PUT /v1/deployments/research-helper',
      'PUT /v1/skills/skl',
      'PUT /v1/deployments/research-helper',
    ]);
    const [entry] = (answer?.version.manifest.skills ?? []) as { id: string }[];
    const { files } = await client.skills.get({ skill_id: entry?.id as string });
    expect(files.find(({ path }) => path === 'SKILL.md')?.content).toMatch(/Be brief\.\n$/);
    expect((await apply(folder)).uploaded).toEqual([]);
  });
});

describe('files of the computer', () => {
  it('are uploaded from the folder if their content changed [VER-704]', async () => {
    const text = (from: string) =>
      `name: local-files\ncomputer:\n  files:\n    - from: ${from}\n      path: data/prices.csv\n`;
    const folder = await folderWith('local-files', { 'service.yaml': text('./prices.csv'), 'prices.csv': 'tea,4\n' });
    const planned = await apply(folder, { dryRun: true });
    expect(planned.uploaded).toEqual([{ kind: 'file', action: 'created', path: 'prices.csv', name: 'prices.csv' }]);
    const first = await apply(folder);
    expect([first.uploaded.length, first.answer?.changed]).toEqual([1, ['computer']]);
    const [file] = first.answer?.version.manifest.environment?.files ?? [];
    expect(file).toMatchObject({ path: 'data/prices.csv', file_id: expect.stringMatching(/^file_/) });
    const again = await apply(folder);
    expect([again.uploaded, again.answer?.changed]).toEqual([[], []]);
    await writeFile(join(folder, 'prices.csv'), 'tea,5\n');
    const { plan } = await apply(folder, { dryRun: true });
    expect(plan).toMatchObject({ changed: [], creates_version: true, uploads: [{ kind: 'file' }] });
    expect((await apply(folder)).answer?.changed).toEqual(['computer']);
    // A file that cannot be read is reported at its line, and nothing is sent.
    await writeFile(join(folder, 'service.yaml'), text('./none.csv'));
    const problems = await refused(folder);
    expect(problems).toMatchObject([{ line: 4, message: 'There is no `none.csv`.' }]);
  });
});

describe('a folder', () => {
  it('may hold skills in folders, knowledge in files and the set-up in a script [APPLY-017, APPLY-018]', async () => {
    const folder = await folderWith('whole', {
      'service.yaml':
        'name: whole\nskills: ./skills\nknowledge: [faq.md, docs]\ncomputer:\n  setup: scripts/prepare.sh\n',
      'skills/README.md': 'Not a skill.',
      'skills/first/SKILL.md': skill('first'),
      'skills/first/scripts/run.sh': 'echo first\n',
      'skills/first/.cache/x': 'never',
      'skills/first/node_modules/x/index.js': 'never',
      'skills/second/SKILL.md': skill('second'),
      'scripts/prepare.sh': '#!/bin/sh\nmkdir -p ~/work\n',
      'faq.md': '# Questions\n\nNone.\n',
      'docs/a.txt': 'Alpha.',
      'docs/deep/b.md': 'Beta.',
      'docs/page.html': '<h1>Gamma</h1>',
      'docs/deep/sheet.pdf': pdfOf([['Delta on a page.']]),
      'docs/letter.docx': docxOf(paragraph('Epsilon in a letter.')),
      'docs/picture.png': Uint8Array.of(137, 80, 78, 71, 0, 255),
      'docs/.env': 'SECRET=1',
    });
    const progress: ApplyProgress[] = [];
    const { answer, skipped } = await apply(folder, { onProgress: (each) => progress.push(each) });
    expect(answer?.version.manifest.environment?.setup).toBe('#!/bin/sh\nmkdir -p ~/work\n');
    expect(answer?.version.manifest.skills).toHaveLength(2);
    const [first] = (answer?.version.manifest.skills ?? []) as { id: string }[];
    const { files } = await client.skills.get({ skill_id: first?.id as string });
    expect(files.map(({ path }) => path)).toEqual(['SKILL.md', 'scripts/run.sh']);
    expect((await documentsOf(answer)).map(({ title, text }) => [title, text])).toEqual([
      ['faq.md', '# Questions\n\nNone.\n'],
    ]);
    expect((await documentsOf(answer, 1)).map(({ title, text }) => [title, text.trim()])).toEqual([
      ['a.txt', 'Alpha.'],
      ['deep - sheet.pdf', 'Delta on a page.'],
      ['deep/b.md', 'Beta.'],
      ['letter.docx', 'Epsilon in a letter.'],
      ['page.html', '# Gamma'],
    ]);
    expect(skipped).toEqual([{ path: 'docs/picture.png', reason: expect.stringContaining('neither text') }]);
    // Whether there is anything left to index when it is asked for depends on the machine.
    expect(progress.map(({ type }) => type).filter((type) => type !== 'indexing')).toEqual([
      'read',
      'planned',
      ...Array.from({ length: 10 }, () => ['uploading', 'uploaded']).flat(),
      'applying',
      'applied',
    ]);
    expect((await apply(folder)).uploaded).toEqual([]);
  });

  it('that changes has changed documents replaced, new ones added and lost ones deleted', async () => {
    const folder = join(root, 'whole');
    await writeFile(join(folder, 'docs/a.txt'), 'Alpha, anew.');
    await writeFile(join(folder, 'docs/letter.docx'), docxOf(paragraph('Another letter.')));
    await rename(join(folder, 'docs/deep/b.md'), join(folder, 'docs/c.md'));
    const planned = await apply(folder, { dryRun: true });
    const wrote = changes.filter((change) => change !== 'POST /v1/notebooks/convert');
    expect([planned.answer, wrote]).toEqual([null, ['PUT /v1/deployments/whole']]);
    expect(namesOf(planned.uploaded)).toEqual([
      'document deleted deep/b.md',
      'document replaced a.txt',
      'document created c.md',
      'document replaced letter.docx',
    ]);
    const { uploaded, answer } = await apply(folder);
    expect(namesOf(uploaded)).toEqual([
      'document deleted deep/b.md',
      'document replaced a.txt',
      'document created c.md',
      'document replaced letter.docx',
    ]);
    expect((await documentsOf(answer, 1)).map(({ title, text }) => [title, text.trim()])).toEqual([
      ['a.txt', 'Alpha, anew.'],
      ['c.md', 'Beta.'],
      ['deep - sheet.pdf', 'Delta on a page.'],
      ['letter.docx', 'Another letter.'],
      ['page.html', '# Gamma'],
    ]);
    expect(answer?.changed).toEqual(['knowledge']);
  });

  it('shares no notebook with another deployment or with one made by hand', async () => {
    const file = (name: string) => ({ 'service.yaml': `name: ${name}\nknowledge: docs\n`, 'docs/a.md': name });
    const one = await apply(await folderWith('one', file('one')));
    const other = await apply(await folderWith('other', file('other')));
    expect(one.answer?.version.manifest.notebooks).not.toEqual(other.answer?.version.manifest.notebooks);
    expect((await documentsOf(one.answer)).map(({ text }) => text)).toEqual(['one']);
  });

  it('is read from service.yaml, or from the file that is named', async () => {
    const folder = await folderWith('named', {
      'service.yaml': 'name: named\n',
      'staging/other.yaml': 'name: named-other\ncomputer: { setup: prepare.sh }\n',
      'staging/prepare.sh': 'true\n',
    });
    expect((await apply(folder)).answer?.slug).toBe('named');
    const other = await apply(folder, { file: 'staging/other.yaml', promote: 'now' });
    expect(other.answer).toMatchObject({ slug: 'named-other', promoted: true });
    expect(other.answer?.version.manifest.environment?.setup).toBe('true\n');
    const empty = await folderWith('empty', { 'x.txt': '' });
    expect(await refused(empty)).toMatchObject([
      { file: 'service.yaml', message: expect.stringContaining('no such file') },
    ]);
  });
});

describe('a fault', () => {
  it('of the file is shown at its line, before anything is uploaded', async () => {
    const folder = await folderWith('faulty', {
      'service.yaml': [
        'name: faulty',
        'language: not a language',
        'skills:',
        '  - name: spreadsheets',
        '  - ./skills',
        '  - name: no-such-skill',
        'tools:',
        '  - function: look',
        '    description: Looks.',
        '    colour: blue',
        '  - mcp: https://tools.example.com/mcp',
        '    auth: ${NOT_STORED}',
        '',
      ].join('\n'),
      'skills/unseen/SKILL.md': skill('unseen'),
    });
    const problems = await refused(folder);
    expect(problems.map(({ code, param, line, column }) => [code, param, line, column])).toEqual([
      ['invalid_language', 'language', 2, 1],
      ['invalid_manifest', 'skills.2.name', 6, 5],
      ['invalid_manifest', 'tools.0.colour', 10, 5],
      ['secret_missing', 'tools.1.auth', 12, 5],
    ]);
    expect(changes).toEqual(['PUT /v1/deployments/faulty']);
    const slugs = [];
    for await (const { slug } of pages(client.skills.list, {})) slugs.push(slug);
    expect(slugs).not.toContain('unseen');
  });

  it('in an entry after an expanded folder is reported at its own line', async () => {
    const folder = await folderWith('behind', {
      'service.yaml': 'name: behind\nskills:\n  - skills\n  - id: skl_000000000000000000000000\n',
      'skills/one-more/SKILL.md': skill('one-more'),
      'skills/yet-one/SKILL.md': skill('yet-one'),
    });
    expect(await refused(folder)).toMatchObject([{ param: 'skills.1.id', line: 4, column: 5 }]);
    // The same once the folder is known to the service and its ids are sent.
    await writeFile(join(folder, 'service.yaml'), 'name: behind\nskills: [skills]\n');
    await apply(folder);
    await writeFile(
      join(folder, 'service.yaml'),
      'name: behind\nskills:\n  - skills\n  - id: skl_000000000000000000000000\n',
    );
    expect(await refused(folder)).toMatchObject([{ param: 'skills.1.id', line: 4, column: 5 }]);
    expect(changes).toEqual(['PUT /v1/deployments/behind']);
  });

  it('of a skill or a document is shown with its file', async () => {
    const folder = await folderWith('bad-skill', {
      'service.yaml': 'name: bad-skill\nskills: s\nknowledge: k.md\n',
      's/SKILL.md': '---\nname: bad-skill\n---\nNo description.\n',
      'k.md': 'x'.repeat(600_000),
    });
    expect(await refused(folder)).toMatchObject([
      { file: 's/SKILL.md', line: 1, message: '`description` is missing.' },
      { file: 'k.md', code: 'document_too_large' },
    ]);
    expect(changes).toEqual(['PUT /v1/deployments/bad-skill']);
  });

  it.each([
    ['no frontmatter', 'Text.\n', 1, 'must start with YAML frontmatter'],
    ['an unclosed frontmatter', '---\nname: a\ndescription: b\n', 1, 'must start with YAML frontmatter'],
    ['a bad name', '---\ndescription: b\nname: Bad Name\n---\n', 3, '`name` is 1 to 64'],
    ['no name', '---\ndescription: b\n---\n', 1, '`name` is missing'],
    ['no description', '---\nname: a\n---\n', 1, '`description` is missing'],
    ['an empty description', '---\nname: a\ndescription: " "\n---\n', 3, '`description` is 1 to 1024'],
    ['a long description', `---\nname: a\ndescription: ${'x'.repeat(1025)}\n---\n`, 3, '`description` is 1 to 1024'],
    ['a number as description', '---\nname: a\n# A remark.\ndescription: 5\n---\n', 4, 'must be text'],
    ['broken YAML', '---\nname: a\ndescription: [\n---\n', 3, 'not plain YAML'],
    ['a field twice', '---\nname: a\nname: b\ndescription: c\n---\n', 3, 'not plain YAML'],
    ['an unknown tag', '---\nname: !x a\ndescription: c\n---\n', 2, 'not plain YAML'],
    ['a list', '---\n- name\n---\n', 1, 'lines of `name: value`'],
    [
      'a long licence note',
      `---\nname: a\ndescription: b\ncompatibility: ${'x'.repeat(501)}\n---\n`,
      4,
      '`compatibility`',
    ],
  ])(
    'of a skill with %s is in the plan with file and line, as the upload would refuse it [PLAN-780]',
    async (_, text, line, why) => {
      const folder = await folderWith('planned-skill', {
        'service.yaml': 'name: planned-skill\nlanguage: not a language\nskills: s\n',
        's/SKILL.md': text,
      });
      const problems = await refused(folder, { dryRun: true });
      expect(problems).toMatchObject([
        expect.objectContaining({ file: expect.any(String) }),
        expect.objectContaining({ file: expect.any(String) }),
      ]);
      expect(problems.find(({ file }) => file === 'service.yaml')).toMatchObject({ param: 'language', line: 2 });
      expect(problems.find(({ file }) => file === 's/SKILL.md')).toMatchObject({
        line,
        message: expect.stringContaining(why),
      });
      const sent = client.skills.create({ files: [{ path: 'SKILL.md', content: text }] });
      await expect(sent).rejects.toMatchObject({ code: 'invalid_frontmatter' });
    },
  );

  it('that is not the file’s is the error it is', async () => {
    const folder = await folderWith('stranger', { 'service.yaml': 'name: stranger\n' });
    const stranger = createClient({ baseUrl: server.url, key: 'vk_test_unknown' });
    await expect(apply(folder, { client: stranger })).rejects.toMatchObject({
      name: 'VestraError',
      code: 'key_invalid',
    });
  });
});

it('never sends files outside the folder', async () => {
  await folderWith('outside', { 'secret.md': 'A secret.', 'skill/SKILL.md': skill('outside') });
  const folder = await folderWith('inside', {
    'service.yaml':
      'name: inside\nskills: [linked, ../outside/skill]\nknowledge: [docs, .env]\ncomputer: { setup: .env }\n',
    'docs/a.md': 'A.',
    '.env': 'SECRET=1',
  });
  await symlink(join(root, 'outside/skill'), join(folder, 'linked'));
  await symlink(join(root, 'outside/secret.md'), join(folder, 'docs/b.md'));
  const problems = await refused(folder);
  expect(problems.map(({ line, message }) => [line, message])).toEqual([
    [2, expect.stringContaining('link that leads out of the folder')],
    [2, expect.stringContaining('is outside the folder')],
    [3, expect.stringContaining('link that leads out of the folder')],
    [3, expect.stringContaining('never read')],
    [4, expect.stringContaining('never read')],
  ]);
  expect(changes).toEqual(['PUT /v1/deployments/inside']);
});
