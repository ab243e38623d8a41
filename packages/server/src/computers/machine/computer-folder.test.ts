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
import { claimAccounts, makeComputerFolders, removeComputerFolders } from './computer-folder.ts';

const isRoot = process.getuid?.() === 0;
const folder = mkdtempSync(join(tmpdir(), 'vestra-place-'));
chmodSync(folder, 0o711);
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const rightsOf = (path: string) => statSync(path).mode & 0o777;

describe('the folders of a computer', () => {
  it('belong to its account only, and stay the same', async () => {
    const dataDir = join(folder, 'data');
    mkdirSync(dataDir, { mode: 0o700 });
    const folders = await makeComputerFolders(dataDir, 7);
    expect(folders.home).toBe(join(dataDir, 'computers/7/home'));
    for (const each of [folders.home, folders.browser, folders.sockets]) {
      expect(rightsOf(each)).toBe(0o700);
      if (folders.identity) expect([statSync(each).uid, statSync(each).gid]).toEqual(Object.values(folders.identity));
    }
    // Accounts can pass through but not list these folders.
    expect([rightsOf(dataDir), rightsOf(join(dataDir, 'computers'))]).toEqual([0o711, 0o711]);
    expect(folders.identity !== null).toBe(isRoot);
    writeFileSync(join(folders.home, 'kept'), 'x');
    expect(await makeComputerFolders(dataDir, 7)).toEqual(folders);
    expect(existsSync(join(folders.home, 'kept'))).toBe(true);
    mkdirSync(join(folders.home, 'closed/inner'), { recursive: true });
    writeFileSync(join(folders.home, 'closed/inner/file'), 'x');
    // An agent can create such folders; only root can remove them as they are.
    for (const each of ['closed/inner', 'closed']) chmodSync(join(folders.home, each), 0);
    await removeComputerFolders(dataDir, 7);
    expect(existsSync(dirname(folders.home))).toBe(false);
    await removeComputerFolders(dataDir, 7);
  });

  it.runIf(isRoot)('are in /var/lib/vestra if its account cannot reach the data folder', async () => {
    const closed = join(folder, 'closed');
    mkdirSync(closed, { mode: 0o700 });
    const { home } = await makeComputerFolders(join(closed, 'data'), 1);
    expect(home).toMatch(/^\/var\/lib\/vestra\/data-[0-9a-f]{16}\/computers\/1\/home$/);
    expect(await makeComputerFolders(join(closed, 'data'), 1)).toMatchObject({ home });
    const other = (await makeComputerFolders(join(closed, 'other'), 1)).home;
    expect(other).not.toBe(home);
    await removeComputerFolders(join(closed, 'data'), 1);
    expect([existsSync(home), existsSync(other)]).toEqual([false, true]);
    for (const each of [home, other]) rmSync(join(each, '../../..'), { recursive: true, force: true });
  });

  it.runIf(isRoot)('have an account that no computer of another installation has [CMP-186]', async () => {
    const dataDirs = ['first', 'second'].map((name) => join(folder, name));
    for (const each of dataDirs) mkdirSync(each);
    const [first, second] = await Promise.all(dataDirs.map((dataDir) => makeComputerFolders(dataDir, 1)));
    expect(Math.abs((first?.identity?.uid ?? 0) - (second?.identity?.uid ?? 0))).toBeGreaterThan(1_000_000);
    const home = first?.home ?? '';
    writeFileSync(join(home, 'kept'), 'x');
    chownSync(join(home, 'kept'), 1, 1);
    chownSync(home, 1, 1);
    // As another range of accounts left it.
    expect(await makeComputerFolders(dataDirs[0] as string, 1)).toEqual(first);
    expect([home, join(home, 'kept')].map((path) => statSync(path).uid)).toEqual(
      [0, 0].map(() => first?.identity?.uid),
    );
  });

  it('registers each installation once, and reuses the ranges of removed ones [CMP-186]', async () => {
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
    // A process was killed while it held the lock.
    mkdirSync(join(register, 'lock'));
    utimesSync(join(register, 'lock'), 1, 1);
    expect(await claim(newcomer)).toBe(claims[3]);
  });
});
