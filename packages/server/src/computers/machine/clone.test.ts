import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { afterFile, never, newComputers, say } from './computer-folder.fixture.ts';
import type { ComputerFolders } from './computer-folder.ts';
import { createConfinedHost } from './confined-host.ts';
import { type GitServer, startGitServer } from './git-server.fixture.ts';

const token = `ghp_${'x'.repeat(20)}${process.pid}`;
const host = createConfinedHost({ allowPrivate: true, hasNetwork: true });
let git: GitServer;
let folders: ComputerFolders;
const clone = (of: { ref?: string; path?: string; token?: string | null; mark?: string }) =>
  host.clone(folders, {
    url: `http://${git.host}/acme/tools`,
    ref: 'main',
    path: '/home/agent/tools',
    token,
    mark: 'first',
    timeoutMs: 60_000,
    signal: never,
    ...of,
  });

describe.skipIf(process.platform !== 'linux')('a repository', () => {
  beforeAll(async () => {
    git = await startGitServer({ token });
    afterFile(() => git.close());
    folders = await (await newComputers()).folders(1);
    afterFile(() => host.release(folders));
    git.commit('tools', 'main', { 'README.md': 'main' });
  });

  it('is cloned with its token, which is stored nowhere', async () => {
    expect(await clone({})).toMatchObject({ exitCode: 0 });
    expect(
      await say(host, folders, 'cat tools/README.md; git -C tools remote get-url origin; git -C tools status --short'),
    ).toMatchObject({
      exitCode: 0,
      stdout: `mainhttp://${git.host}/acme/tools\n`,
    });
    expect(git.asked.some((header) => header !== null)).toBe(true);
    const found = execFileSync('sh', ['-c', `grep -rlaF '${token}' '${join(folders.home, '..')}' || true`], {
      encoding: 'utf8',
    });
    expect(found).toBe('');
    expect(existsSync(join(folders.home, '..', 'scratch'))).toBe(false);
  });

  it('gives its token to no program of the agent', async () => {
    // Every git in the home folder calls this credential helper and passes it the password.
    const thief = '!f() { cat >>/home/agent/stolen; }; f';
    await say(
      host,
      folders,
      `git config --global credential.helper '${thief}'; git config --global core.hooksPath /home/agent/hooks`,
    );
    expect(await clone({ path: '/home/agent/again', mark: 'second' })).toMatchObject({ exitCode: 0 });
    expect(existsSync(join(folders.home, 'stolen'))).toBe(false);
    await say(host, folders, 'rm .gitconfig');
  });

  it('is left as it is if it exists, and moves other folders aside', async () => {
    await say(host, folders, 'echo mine >tools/own.txt');
    expect(await clone({})).toMatchObject({ exitCode: 0 });
    expect(readFileSync(join(folders.home, 'tools/own.txt'), 'utf8')).toBe('mine\n');
    git.commit('tools', 'next', { 'README.md': 'next' });
    expect(await clone({ ref: 'next', mark: 'third' })).toMatchObject({ exitCode: 0 });
    expect(readFileSync(join(folders.home, 'tools/README.md'), 'utf8')).toBe('next');
    expect(readFileSync(join(folders.home, 'tools.before-1/own.txt'), 'utf8')).toBe('mine\n');
  });

  it('is cloned at a commit', async () => {
    const commit = git.commit('tools', 'main', { 'README.md': 'pinned' });
    git.commit('tools', 'main', { 'README.md': 'newest' });
    expect(await clone({ ref: commit, path: '/home/agent/deep/pinned', mark: 'fourth' })).toMatchObject({
      exitCode: 0,
    });
    expect(readFileSync(join(folders.home, 'deep/pinned/README.md'), 'utf8')).toBe('pinned');
  });

  it('leaves nothing if it cannot be cloned, and reports why without the token', async () => {
    const before = readdirSync(folders.home);
    for (const fault of [{ ref: 'no-such-branch' }, { token: 'wrong-token-here' }, { token: null }]) {
      const { exitCode, stderr } = await clone({ path: '/home/agent/none', mark: 'fifth', ...fault });
      expect(exitCode).not.toBe(0);
      const said = Buffer.from(stderr.head).toString('utf8');
      expect(said).toMatch(/no-such-branch not found|Authentication failed|could not read Username/);
      expect(said).not.toContain('wrong-token-here');
    }
    expect(readdirSync(folders.home)).toEqual(before);
  });
});
