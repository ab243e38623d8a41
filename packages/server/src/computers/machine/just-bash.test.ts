import { existsSync } from 'node:fs';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { never, newComputers, say } from './computer-folder.fixture.ts';
import type { ComputerFolders } from './computer-folder.ts';
import { createJustBash } from './just-bash.ts';

const host = createJustBash();
let dataDir: string;
let folders: ComputerFolders;
const run = (script: string, options?: Parameters<typeof say>[3]) => say(host, folders, script, options);

describe('a computer in just-bash', () => {
  beforeAll(async () => {
    const computerFolders = await newComputers();
    dataDir = computerFolders.dataDir;
    folders = await computerFolders.folders(1);
    await writeFile(join(dataDir, 'outside.txt'), 'of the server');
  });

  it('runs bash in the home folder and keeps its files', async () => {
    const script = 'cd /home/agent; pwd; echo "$GREETING" | tr a-z A-Z >loud.txt; cat loud.txt; echo err >&2; exit 3';
    expect(await run(script, { env: { GREETING: 'hello' } })).toEqual({
      end: 'exited',
      exitCode: 3,
      stdout: '/home/agent\nHELLO\n',
      stderr: 'err\n',
    });
    expect(await readFile(join(folders.home, 'loud.txt'), 'utf8')).toBe('HELLO\n');
    expect(await run('cat ~/loud.txt')).toMatchObject({ stdout: 'HELLO\n' });
  });

  it('sees nothing of the machine, has no network and follows no link to the outside', async () => {
    expect(
      (await run(`cat /etc/passwd /proc/1/environ '${join(dataDir, 'outside.txt')}'; ls / /root`)).stdout,
    ).not.toMatch(/root:|of the server/);
    expect((await run('curl http://127.0.0.1/')).exitCode).toBe(127);
    await symlink(join(dataDir, 'outside.txt'), join(folders.home, 'link'));
    expect((await run('cat link')).stdout).toBe('');
    expect(await host.readFile(folders, '/home/agent/link', { from: 0, maxBytes: 99, signal: never })).toHaveProperty(
      'fault',
    );
    await symlink(dataDir, join(folders.home, 'way'));
    const files = [{ path: '/home/agent/way/planted', bytes: Buffer.from('x') }];
    expect(await host.writeFiles(folders, files, { signal: never })).toHaveProperty('fault');
    expect(existsSync(join(dataDir, 'planted'))).toBe(false);
  });

  it('ends commands on timeout and on abort', async () => {
    expect(await run('while true; do sleep 0.01; done', { timeoutMs: 200 })).toMatchObject({
      end: 'timeout',
      exitCode: null,
    });
    const controller = new AbortController();
    const stopped = run('while true; do sleep 0.01; done', { signal: controller.signal });
    controller.abort(new Error('stopped'));
    await expect(stopped).rejects.toThrow('stopped');
  });

  it('reads, writes and lists files', async () => {
    const bytes = Buffer.from([0, 1, 2, 255, 254]);
    const files = [{ path: '/home/agent/a/b.bin', bytes, isExecutable: true }];
    expect(await host.writeFiles(folders, files, { instead: '/home/agent/a', signal: never })).toBeNull();
    const read = await host.readFile(folders, '/home/agent/a/b.bin', { from: 1, maxBytes: 3, signal: never });
    expect('size' in read && [read.size, Buffer.from(read.bytes)]).toEqual([5, bytes.subarray(1, 4)]);
    expect(await host.readFile(folders, '/home/agent/a', { from: 0, maxBytes: 3, signal: never })).toEqual({
      fault: 'That is a folder.',
    });
    expect(await host.listFiles(folders, '/home/agent/a', { depth: 1, most: 5, signal: never })).toEqual({
      entries: [{ kind: 'file', size: 5, path: 'b.bin' }],
      isCut: false,
    });
    expect(await host.readFile(folders, '/home/agent/none', { from: 0, maxBytes: 3, signal: never })).toEqual({
      fault: 'There is no such file or folder.',
    });
  });

  it('reports that it cannot clone', async () => {
    const repo = {
      url: 'https://x.example/a/b',
      ref: 'main',
      path: '/home/agent/b',
      token: null,
      mark: 'm',
      timeoutMs: 1,
      signal: never,
    };
    const { exitCode, stderr } = await host.clone(folders, repo);
    expect([exitCode, Buffer.from(stderr.head).toString()]).toEqual([1, expect.stringContaining('without bubblewrap')]);
  });
});
