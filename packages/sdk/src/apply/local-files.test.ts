import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Folder, type LocalPath, openFolder } from './local-files.ts';

let outer: string;
let folder: Folder;
const socket = createServer();
beforeAll(async () => {
  outer = await mkdtemp(join(tmpdir(), 'vestra-local-files-'));
  const inner = join(outer, 'inner');
  for (const name of [
    'docs/deep',
    'docs/.git',
    'docs/node_modules/x',
    'docs/__MACOSX',
    'pipes',
    'round/about',
    'linked',
  ]) {
    await mkdir(join(inner, name), { recursive: true });
  }
  const files = ['docs/b.md', 'docs/a.md', 'docs/deep/c.md', 'docs/.git/config', 'docs/node_modules/x/y.js', '.env'];
  for (const name of [...files, 'docs/__MACOSX/a', 'docs/.DS_Store']) await writeFile(join(inner, name), name);
  await writeFile(join(outer, 'secret.md'), 'secret');
  await writeFile(join(inner, 'large.bin'), '');
  await truncate(join(inner, 'large.bin'), 10 * 1024 * 1024 + 1);
  await symlink('../docs/a.md', join(inner, 'linked/inside.md'));
  await symlink('../docs/deep', join(inner, 'linked/deep'));
  await symlink('../../round', join(inner, 'round/about/again'));
  await symlink('.env', join(inner, 'plain.md'));
  await symlink('../secret.md', join(inner, 'out.md'));
  await symlink('nowhere', join(inner, 'dangling.md'));
  await symlink('..', join(inner, 'up'));
  await once(socket.listen(join(inner, 'pipes/pipe.md')), 'listening');
  folder = await openFolder(inner);
});
afterAll(async () => {
  socket.close();
  await rm(outer, { recursive: true, force: true });
});

const found = async (path: string) => {
  const looked = await folder.find(path);
  if (!looked.ok) throw new Error(looked.message);
  return looked.value;
};

describe('a path', () => {
  it.each([
    ['./docs/', 'folder', 'docs'],
    ['docs/../docs/a.md', 'file', 'docs/a.md'],
    ['linked/inside.md', 'file', 'linked/inside.md'],
  ])('%s is accepted', async (path, kind, shown) => expect(await found(path)).toMatchObject({ kind, shown }));

  it.each([
    ['.', 'not this one itself'],
    ['../secret.md', 'is outside the folder'],
    ['docs/../../secret.md', 'is outside the folder'],
    ['/etc/hostname', 'relative path'],
    ['out.md', 'link that leads out'],
    ['up/secret.md', 'link that leads out'],
    ['.env', 'never read'],
    ['docs/.git/config', 'never read'],
    ['docs/node_modules/x', 'never read'],
    ['plain.md', 'link to a file that is never read'],
    ['pipes/pipe.md', 'neither a file nor a folder'],
    ['dangling.md', 'There is no'],
    ['nothing.md', 'There is no'],
    ['docs/a.md/b', 'cannot be read'],
    ['nul\0.md', 'cannot be read'],
  ])('%j is rejected', async (path, message) => {
    expect(await folder.find(path)).toEqual({ ok: false, message: expect.stringContaining(message) });
  });
});

describe('a folder', () => {
  const listed = async (path: string) => folder.list((await found(path)) as LocalPath);

  it('is listed by path, without ignored files and with the targets of inner links', async () => {
    expect(await listed('docs')).toMatchObject({
      value: [{ path: 'a.md' }, { path: 'b.md' }, { path: 'deep/c.md' }],
    });
    expect(await listed('linked')).toMatchObject({ value: [{ path: 'deep/c.md' }, { path: 'inside.md' }] });
  });

  it('is rejected if it contains itself through a link, or something that is not a file', async () => {
    expect(await listed('round')).toEqual({ ok: false, message: expect.stringContaining('one of its parent folders') });
    expect(await listed('pipes')).toEqual({
      ok: false,
      message: expect.stringContaining('neither a file nor a folder'),
    });
  });

  it('returns the bytes of a file, unless it is far too large', async () => {
    const { path } = await found('docs/a.md');
    expect(await folder.read(path, 'docs/a.md')).toEqual({ ok: true, value: new TextEncoder().encode('docs/a.md') });
    const large = await found('large.bin');
    expect(await folder.read(large.path, 'large.bin')).toMatchObject({ ok: false });
  });
});
