import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { makePlace, removePlace } from './place.ts';

const isRoot = process.getuid?.() === 0;
const folder = mkdtempSync(join(tmpdir(), 'vestra-place-'));
chmodSync(folder, 0o711);
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const rightsOf = (path: string) => statSync(path).mode & 0o777;

describe('the place of a computer', () => {
  it('is its account’s and nobody else’s, and the same each time', async () => {
    const dataDir = join(folder, 'data');
    mkdirSync(dataDir, { mode: 0o700 });
    const place = await makePlace(dataDir, 7);
    expect(place.home).toBe(join(dataDir, 'computers/7/home'));
    for (const each of [place.home, place.browser, place.sockets]) {
      expect(rightsOf(each)).toBe(0o700);
      if (isRoot) expect([statSync(each).uid, statSync(each).gid]).toEqual([700_007, 700_007]);
    }
    // Passed through and not looked into.
    expect([rightsOf(dataDir), rightsOf(join(dataDir, 'computers'))]).toEqual([0o711, 0o711]);
    expect(place.identity).toEqual(isRoot ? { uid: 700_007, gid: 700_007 } : null);
    writeFileSync(join(place.home, 'kept'), 'x');
    expect(await makePlace(dataDir, 7)).toEqual(place);
    expect(existsSync(join(place.home, 'kept'))).toBe(true);
    mkdirSync(join(place.home, 'closed/inner'), { recursive: true });
    writeFileSync(join(place.home, 'closed/inner/file'), 'x');
    // An agent can make such ones; only root removes them as they are.
    for (const each of ['closed/inner', 'closed']) chmodSync(join(place.home, each), 0);
    await removePlace(dataDir, 7);
    expect(existsSync(dirname(place.home))).toBe(false);
    await removePlace(dataDir, 7);
  });

  it.runIf(isRoot)('lies elsewhere where its account could not reach the data folder', async () => {
    const closed = join(folder, 'closed');
    mkdirSync(closed, { mode: 0o700 });
    const { home } = await makePlace(join(closed, 'data'), 1);
    expect(home).toMatch(/^\/var\/lib\/vestra\/data-[0-9a-f]{16}\/computers\/1\/home$/);
    expect(await makePlace(join(closed, 'data'), 1)).toMatchObject({ home });
    const other = (await makePlace(join(closed, 'other'), 1)).home;
    expect(other).not.toBe(home);
    await removePlace(join(closed, 'data'), 1);
    expect([existsSync(home), existsSync(other)]).toEqual([false, true]);
    for (const each of [home, other]) rmSync(join(each, '../../..'), { recursive: true, force: true });
  });
});
