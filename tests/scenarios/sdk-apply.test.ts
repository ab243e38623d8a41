import { appendFile, cp, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ApplyError, type ApplyProgress, applyFolder } from '@vestra/sdk/apply';
import { type Client, createClient } from '@vestra/sdk/client';
import { pages } from '@vestra/sdk/pages';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
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
    expect(problems).toMatchObject([
      { line: 4, message: 'There is no `none.csv`. Correct the path, or add the file.' },
    ]);
  });

  const repos = [{ url: 'git.example.com/acme/tools', path: 'tools' }];
  it.each<[string, unknown[], string[]]>([
    ['a path that leaves the home folder', ['../x'], ['computer.files.0.path']],
    ['a path of another folder', ['/etc/passwd'], ['computer.files.0.path']],
    ['a path with a backslash', ['a\\b'], ['computer.files.0.path']],
    ['a path with a control character', ['a\u0007b'], ['computer.files.0.path']],
    ['a path that begins with a dash', ['-rf'], ['computer.files.0.path']],
    ['an empty path', [''], ['computer.files.0.path']],
    ['a path that is too long', ['x'.repeat(201)], ['computer.files.0.path']],
    ['a number as path', [5], ['computer.files.0.path']],
    ['no path', [undefined], ['computer.files.0.path']],
    ['one path for two files', ['a.csv', './a.csv'], ['computer.files.1']],
    ['the path of a repository', ['tools/'], ['computer.files.0']],
    ['51 files', Array.from({ length: 51 }, (_, index) => `${index}.csv`), ['computer.files']],
    [
      'several faults',
      ['../x', 'ok.csv', '-y', 7, 'ok.csv'],
      ['computer.files.0.path', 'computer.files.2.path', 'computer.files.3.path', 'computer.files.4'],
    ],
  ])('with %s are refused by the plan as by the apply, with line and field [PLAN-781]', async (_, paths, params) => {
    const names = paths.map((_path, index) => `${index}.txt`);
    const content = (entryOf: (index: number) => object) => ({
      name: 'computer-paths',
      language: 'not a language',
      computer: { repos, files: paths.map((path, index) => ({ ...entryOf(index), path })) },
    });
    const uploaded = await Promise.all(names.map((name) => client.files.create({ file: new File([name], name) })));
    const stored = content((index) => ({ file_id: uploaded[index]?.id }));
    const put = (query: string, body: object) =>
      server.call('PUT', `/v1/deployments/computer-paths?${query}`, { body });
    const refusal = await put('promote=no', stored);
    const applied: { code: string; param: string; message: string }[] = refusal.body.error.errors;
    expect(applied.map(({ param }) => param)).toEqual(expect.arrayContaining(['language', ...params]));
    expect(applied).toHaveLength(params.length + 1);

    const folder = await folderWith('computer-paths', {
      'service.yaml': stringify(content((index) => ({ from: names[index] }))),
      ...Object.fromEntries(names.map((name) => [name, name])),
    });
    const planned = await refused(folder, { dryRun: true });
    const sorted = (faults: readonly { param: string | null }[]) =>
      [...faults].sort((one, other) => ((one.param ?? '') < (other.param ?? '') ? -1 : 1));
    expect(sorted(planned.map(({ code, param, message }) => ({ code, param, message })))).toEqual(sorted(applied));
    expect(planned.every(({ line, column }) => line !== null && column !== null)).toBe(true);
    const lines = (await readFile(join(folder, 'service.yaml'), 'utf8')).split('\n');
    for (const { param, line } of planned) {
      const [, index] = /^computer\.files\.(\d+)/.exec(param ?? '') ?? [];
      if (index === undefined) continue;
      const from = lines.indexOf(`    - from: ${names[Number(index)]}`) + 1;
      expect([from, from + 1]).toContain(line);
    }
    const asked = await put(
      'dry_run=true&uploads=computer',
      content((index) => ({ from: names[index] })),
    );
    const faults = (asked.body.faults as typeof applied).filter(({ code }) => code !== 'path_not_resolved');
    expect(sorted(faults)).toEqual(sorted(applied));
  });

  it('with two entries for one local file are uploaded once [PLAN-781]', async () => {
    const entry = '    - { from: a.csv, path: a.csv }\n';
    const folder = await folderWith('twice', {
      'service.yaml': `name: twice\ncomputer:\n  files:\n${entry}${entry}    - { from: a.csv, path: b.csv }\n`,
      'a.csv': '1',
    });
    const { uploaded, answer } = await apply(folder);
    expect(namesOf(uploaded)).toEqual(['file created a.csv']);
    expect(answer?.version.manifest.environment?.files.map(({ path }) => path)).toEqual(['a.csv', 'b.csv']);
    expect((await apply(folder)).answer?.changed).toEqual([]);
  });

  it.each(['a\\b.csv', 'a\u0007.csv', 'a\u202Efdp.exe'])(
    'whose name %j the upload would refuse are refused by the plan [PLAN-782]',
    async (name) => {
      await expect(client.files.create({ file: new File(['x'], name) })).rejects.toMatchObject({
        code: 'invalid_filename',
      });
      const file = { name: 'named-files', computer: { files: [{ from: name, path: 'a.csv' }] } };
      const folder = await folderWith('named-files', { 'service.yaml': stringify(file), [name]: 'x' });
      const problems = await refused(folder, { dryRun: true });
      expect(problems).toMatchObject([{ param: 'computer.files.0.from', line: 4 }]);
    },
  );
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

  it('of a skill is in the plan beside the faults of the file [PLAN-780]', async () => {
    const folder = await folderWith('planned-skill', {
      'service.yaml': 'name: planned-skill\nlanguage: not a language\nskills: s\n',
      's/SKILL.md': '---\ndescription: b\nname: Bad Name\n---\n',
    });
    expect(await refused(folder, { dryRun: true })).toMatchObject([
      { file: 's/SKILL.md', line: 3, message: expect.stringContaining('`name` is 1 to 64') },
      { file: 'service.yaml', line: 2, param: 'language' },
    ]);
  });

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
