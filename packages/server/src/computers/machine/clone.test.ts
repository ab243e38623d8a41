import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { afterFile, never, newPlaces, say } from './computer-folder.fixture.ts';
import type { Place } from './computer-folder.ts';
import { createConfinedHost } from './confined-host.ts';
import { type GitServer, startGitServer } from './git-server.fixture.ts';

const token = `ghp_${'x'.repeat(20)}${process.pid}`;
const host = createConfinedHost({ allowPrivate: true, hasNetwork: true });
let git: GitServer;
let place: Place;
const clone = (of: { ref?: string; path?: string; token?: string | null; mark?: string }) =>
  host.clone(place, {
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
    place = await (await newPlaces()).place(1);
    afterFile(() => host.rest(place));
    git.commit('tools', 'main', { 'README.md': 'main' });
  });

  it('is cloned with its token, which stays nowhere', async () => {
    expect(await clone({})).toMatchObject({ exitCode: 0 });
    expect(
      await say(host, place, 'cat tools/README.md; git -C tools remote get-url origin; git -C tools status --short'),
    ).toMatchObject({
      exitCode: 0,
      stdout: `mainhttp://${git.host}/acme/tools\n`,
    });
    expect(git.asked.some((header) => header !== null)).toBe(true);
    const found = execFileSync('sh', ['-c', `grep -rlaF '${token}' '${join(place.home, '..')}' || true`], {
      encoding: 'utf8',
    });
    expect(found).toBe('');
    expect(existsSync(join(place.home, '..', 'scratch'))).toBe(false);
  });

  it('gives its token to nothing that the agent has written', async () => {
    // A helper in the home folder is asked by every git that runs there, and told the password it used.
    const thief = '!f() { cat >>/home/agent/stolen; }; f';
    await say(
      host,
      place,
      `git config --global credential.helper '${thief}'; git config --global core.hooksPath /home/agent/hooks`,
    );
    expect(await clone({ path: '/home/agent/again', mark: 'second' })).toMatchObject({ exitCode: 0 });
    expect(existsSync(join(place.home, 'stolen'))).toBe(false);
    await say(host, place, 'rm .gitconfig');
  });

  it('is left alone where it is there already, and otherwise goes nobody’s way', async () => {
    await say(host, place, 'echo mine >tools/own.txt');
    expect(await clone({})).toMatchObject({ exitCode: 0 });
    expect(readFileSync(join(place.home, 'tools/own.txt'), 'utf8')).toBe('mine\n');
    git.commit('tools', 'next', { 'README.md': 'next' });
    expect(await clone({ ref: 'next', mark: 'third' })).toMatchObject({ exitCode: 0 });
    expect(readFileSync(join(place.home, 'tools/README.md'), 'utf8')).toBe('next');
    expect(readFileSync(join(place.home, 'tools.before-1/own.txt'), 'utf8')).toBe('mine\n');
  });

  it('is cloned at a commit', async () => {
    const commit = git.commit('tools', 'main', { 'README.md': 'pinned' });
    git.commit('tools', 'main', { 'README.md': 'newest' });
    expect(await clone({ ref: commit, path: '/home/agent/deep/pinned', mark: 'fourth' })).toMatchObject({
      exitCode: 0,
    });
    expect(readFileSync(join(place.home, 'deep/pinned/README.md'), 'utf8')).toBe('pinned');
  });

  it('that cannot be cloned leaves nothing, and says why without the token', async () => {
    const before = readdirSync(place.home);
    for (const fault of [{ ref: 'no-such-branch' }, { token: 'wrong-token-here' }, { token: null }]) {
      const { exitCode, stderr } = await clone({ path: '/home/agent/none', mark: 'fifth', ...fault });
      expect(exitCode).not.toBe(0);
      const said = Buffer.from(stderr.head).toString('utf8');
      expect(said).toMatch(/no-such-branch not found|Authentication failed|could not read Username/);
      expect(said).not.toContain('wrong-token-here');
    }
    expect(readdirSync(place.home)).toEqual(before);
  });
});
