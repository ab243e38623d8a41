import { skillDigest } from '@vestra/contract/skill-digest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countWhere, rowsWhere } from '../../../../../tests/support/rows.ts';
import { sql } from '../../platform/db/sql.ts';
import { type File, skillOf, startSkills, zipOf } from './skills.fixture.ts';
import { skills, skillTexts } from './tables.ts';

let server: Awaited<ReturnType<typeof startSkills>>;
let org: Awaited<ReturnType<typeof server.newOrg>>;
beforeAll(async () => {
  server = await startSkills();
  org = await server.newOrg();
});
afterAll(() => server.stop());

const megabyte = 1024 * 1024;
const main = skillOf()[0] as File;
const numbered = (count: number, content = 'x') =>
  Array.from({ length: count }, (_, at) => ({ path: `f${at}.md`, content }));

/** Sends the bundle as JSON and, if possible, as a zip, to create and to replace. Nothing may be stored. */
async function expectRefused(files: File[], code: string, param: { json: string; zip: string }) {
  const org = await server.newOrg();
  const { body: made } = await server.call('POST', '/v1/skills', { key: org.key, body: { files: skillOf() } });
  const before = await countWhere(server.db, skillTexts, sql`org_id = ${org.id}`);
  for (const [method, path] of [
    ['POST', '/v1/skills'],
    ['PUT', `/v1/skills/${made.id}`],
  ] as const) {
    const json = await server.call(method, path, { key: org.key, body: { files } });
    expect(json, `${method} JSON`).toMatchObject({ status: 400, body: { error: { code, param: param.json } } });
    const zip = await server.sendZip(org.key, zipOf(files), { method, path });
    expect(zip, `${method} zip`).toMatchObject({ status: 400, body: { error: { code, param: param.zip } } });
  }
  expect(await countWhere(server.db, skillTexts, sql`org_id = ${org.id}`)).toBe(before);
  expect(await rowsWhere(server.db, skills, sql`org_id = ${org.id}`)).toMatchObject([{ hash: made.version }]);
}

describe('a bundle', () => {
  it('accepts at most 200 files and paths of at most 200 characters [SKL-011, SKL-027]', async () => {
    const { key } = await server.newOrg();
    const longest = { path: `${'p'.repeat(197)}.md`, content: 'x' };
    const full = [main, longest, ...numbered(198)];
    const made = await server.call('POST', '/v1/skills', { key, body: { files: full } });
    expect(made).toMatchObject({ status: 201, body: { sha256: await skillDigest(full) } });
    await expectRefused([main, ...numbered(200)], 'invalid_skill', { json: 'files', zip: 'file' });
    await expectRefused([main, { path: 'p'.repeat(201), content: 'x' }], 'invalid_skill', {
      json: 'files.1.path',
      zip: 'file',
    });
  });

  it('needs at least one file [SKL-011]', async () => {
    const json = await server.call('POST', '/v1/skills', { key: org.key, body: { files: [] } });
    expect(json).toMatchObject({ status: 400, body: { error: { code: 'invalid_skill', param: 'files' } } });
    const zip = await server.sendZip(org.key, zipOf([]));
    expect(zip).toMatchObject({ status: 400, body: { error: { code: 'invalid_skill', param: 'file' } } });
  });

  it.each(['/etc/passwd', '../up.md', 'a/../../up.md', 'a//b.md', './a.md', 'a/.', 'a\\b.md', 'a\nb.md', 'C:/a.md'])(
    'refuses the path %j [SKL-027]',
    (path) => expectRefused([main, { path, content: 'x' }], 'invalid_skill', { json: 'files.1.path', zip: 'file' }),
  );

  it('refuses a path that climbs after a line separator', () =>
    expectRefused([main, { path: 'a\u2028/../../b.md', content: 'x' }], 'invalid_skill', {
      json: 'files.1.path',
      zip: 'file',
    }));

  it('refuses an empty path [SKL-027]', async () => {
    const files = [main, { path: '', content: 'x' }];
    const json = await server.call('POST', '/v1/skills', { key: org.key, body: { files } });
    expect(json).toMatchObject({ status: 400, body: { error: { code: 'invalid_skill', param: 'files.1.path' } } });
  });

  it('needs a SKILL.md at its top, spelled exactly so [SKL-012]', async () => {
    for (const path of ['skill.md', 'docs/a/SKILL.md', 'SKILL.txt']) {
      await expectRefused([{ ...main, path }], 'invalid_skill', { json: 'files', zip: 'file' });
    }
    const inFolder = await server.call('POST', '/v1/skills', {
      key: org.key,
      body: { files: [{ ...main, path: 'refunds/SKILL.md' }] },
    });
    expect(inFolder).toMatchObject({ status: 400, body: { error: { code: 'invalid_skill', param: 'files' } } });
  });

  it.each([
    ['case alone', ['docs/Read.md', 'docs/read.md']],
    ['the way an accent is written', ['caf\u00e9.md', 'cafe\u0301.md']],
  ])('refuses paths that differ in %s [SKL-020]', (_what, [one, two]) =>
    expectRefused(
      [main, { path: one as string, content: '1' }, { path: two as string, content: '2' }],
      'duplicate_path',
      { json: 'files.2.path', zip: 'file' },
    ),
  );

  it('refuses a repeated path, with equal or different content [SKL-020]', async () => {
    for (const content of ['x', 'y']) {
      const files = [main, { path: 'a.md', content: 'x' }, { path: 'a.md', content }];
      const json = await server.call('POST', '/v1/skills', { key: org.key, body: { files } });
      expect(json).toMatchObject({ status: 400, body: { error: { code: 'duplicate_path', param: 'files.2.path' } } });
    }
  });

  it('refuses a path that is both a file and a folder', () =>
    expectRefused([main, { path: 'a/b.md', content: 'x' }, { path: 'A', content: 'x' }], 'invalid_skill', {
      json: 'files.1.path',
      zip: 'file',
    }));

  it('accepts a file of 1 MB and refuses one more byte, counted in UTF-8 [SKL-021, SKL-029]', async () => {
    const { key } = await server.newOrg();
    const files = (content: string) => [main, { path: 'big.md', content }];
    const made = await server.call('POST', '/v1/skills', { key, body: { files: files('é'.repeat(megabyte / 2)) } });
    expect(made.status).toBe(201);
    for (const content of ['x'.repeat(megabyte + 1), `${'é'.repeat(megabyte / 2)}x`]) {
      await expectRefused(files(content), 'file_too_large', { json: 'files.1.content', zip: 'file' });
    }
  });

  it('accepts 5 MB in total and refuses one more byte [SKL-019]', async () => {
    const { key } = await server.newOrg();
    const files = [main, ...numbered(4, 'x'.repeat(megabyte))];
    const rest = (more: number) => ({ path: 'rest.md', content: 'x'.repeat(megabyte - main.content.length + more) });
    const made = await server.call('POST', '/v1/skills', { key, body: { files: [...files, rest(0)] } });
    expect(made.status).toBe(201);
    await expectRefused([...files, rest(1)], 'bundle_too_large', { json: 'files', zip: 'file' });
  });
});

describe('a binary file', () => {
  it.each([
    ['a NUL byte', [104, 0, 105]],
    ['bytes that are no UTF-8', [0x89, 0x50, 0x4e, 0x47]],
    ['half a surrogate pair in bytes', [0xed, 0xa0, 0x80]],
  ])('is refused for %s [SKL-018]', async (_what, bytes) => {
    const zip = zipOf([main], { 'logo.png': new Uint8Array(bytes) });
    const refused = await server.sendZip(org.key, zip);
    expect(refused).toMatchObject({ status: 400, body: { error: { code: 'binary_file', param: 'file' } } });
    expect(refused.body.error.message).toContain('logo.png');
  });
});

describe('an unreadable zip [SKL-022]', () => {
  const whole = zipOf(skillOf());
  it.each([
    ['no zip', new TextEncoder().encode('---\nname: refunds\n---\n')],
    ['nothing', new Uint8Array()],
    ['half of one', whole.slice(0, whole.length / 2)],
    ['one without its beginning', whole.slice(40)],
  ])('is refused: %s', async (_what, bytes) => {
    const refused = await server.sendZip(org.key, bytes);
    expect(refused).toMatchObject({ status: 400, body: { error: { code: 'invalid_zip' } } });
  });

  it('is refused as a multipart part too', async () => {
    const form = new FormData();
    form.append('file', new Blob(['not a zip']), 'SKILL.md');
    const refused = await server.call('POST', '/v1/skills', { key: org.key, raw: form });
    expect(refused).toMatchObject({ status: 400, body: { error: { code: 'invalid_zip' } } });
  });

  it('gets another error than an unsupported content type', async () => {
    const headers = { 'content-type': 'application/x-tar' };
    const refused = await server.call('POST', '/v1/skills', { key: org.key, raw: whole, headers });
    expect(refused).toMatchObject({ status: 415, body: { error: { code: 'unsupported_media_type' } } });
  });
});

it('refuses unreadable frontmatter and names its file [SKL-013]', async () => {
  for (const content of ['# No head\n', '---js\nname: x\n---\n', '---\nname: Refunds\ndescription: x\n---\n']) {
    await expectRefused(
      [
        { path: 'a.md', content: 'x' },
        { path: 'SKILL.md', content },
      ],
      'invalid_frontmatter',
      {
        json: 'files.1.content',
        zip: 'file',
      },
    );
  }
});
