import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { claimAccounts, makePlace, removePlace } from './computer-folder.ts';

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
      if (place.identity) expect([statSync(each).uid, statSync(each).gid]).toEqual(Object.values(place.identity));
    }
    // Passed through and not looked into.
    expect([rightsOf(dataDir), rightsOf(join(dataDir, 'computers'))]).toEqual([0o711, 0o711]);
    expect(place.identity !== null).toBe(isRoot);
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

  it.runIf(isRoot)('has an account that no computer of another installation has [CMP-186]', async () => {
    const folders = ['first', 'second'].map((name) => join(folder, name));
    for (const each of folders) mkdirSync(each);
    const [first, second] = await Promise.all(folders.map((dataDir) => makePlace(dataDir, 1)));
    expect(Math.abs((first?.identity?.uid ?? 0) - (second?.identity?.uid ?? 0))).toBeGreaterThan(1_000_000);
    const home = first?.home ?? '';
    writeFileSync(join(home, 'kept'), 'x');
    chownSync(join(home, 'kept'), 1, 1);
    chownSync(home, 1, 1);
    // As another numbering has left it.
    expect(await makePlace(folders[0] as string, 1)).toEqual(first);
    expect([home, join(home, 'kept')].map((path) => statSync(path).uid)).toEqual(
      [0, 0].map(() => first?.identity?.uid),
    );
  });

  it('is registered, each installation once, and those that are gone make room [CMP-186]', async () => {
    const register = join(folder, 'register');
    const installations = Array.from({ length: 12 }, (_, at) => join(folder, `installation-${at}`));
    for (const each of installations) mkdirSync(each);
    const claim = (each: string) => claimAccounts(each, register);
    const claims = await Promise.all([...installations, ...installations].map(claim));
    expect(new Set(claims).size).toBe(12);
    expect(claims.slice(12)).toEqual(claims.slice(0, 12));
    rmSync(installations[3] as string, { recursive: true });
    const newcomer = join(folder, 'newcomer');
    mkdirSync(newcomer);
    expect(await claim(newcomer)).toBe(claims[3]);
    // One that was killed while it looked.
    mkdirSync(join(register, 'lock'));
    utimesSync(join(register, 'lock'), 1, 1);
    expect(await claim(newcomer)).toBe(claims[3]);
  });
});
