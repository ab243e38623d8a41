import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { withDescendants } from '../../platform/sandbox/resource-limits.ts';
import { afterFile, never, newComputers, say } from './computer-folder.fixture.ts';
import type { ComputerFolders } from './computer-folder.ts';
import { createConfinedHost } from './confined-host.ts';

const megabyte = 1024 * 1024;
/** Measures often enough for such small limits. */
const host = createConfinedHost({
  allowPrivate: false,
  hasNetwork: true,
  limits: { processes: 96, processesBeforeEnd: 64, diskBytes: 64 * megabyte, files: 2_000, everyMs: 20 },
});
let dataDir: string;
let folders: ComputerFolders;
let other: ComputerFolders;
const run = (script: string, options?: Parameters<typeof say>[3]) => say(host, folders, script, options);

describe.skipIf(process.platform !== 'linux')('a computer in bubblewrap', () => {
  beforeAll(async () => {
    const computerFolders = await newComputers();
    dataDir = computerFolders.dataDir;
    folders = await computerFolders.folders(1);
    other = await computerFolders.folders(2);
    await writeFile(join(dataDir, 'master-key'), 'the key', { mode: 0o600 });
    await say(host, other, 'echo theirs >private.txt');
    afterFile(async () => Promise.all([host.release(folders), host.release(other)]));
  });

  it('runs bash in the home folder under its own account, with its variables', async () => {
    const said = await run(
      'whoami; pwd; echo "$HOME|$GREETING"; git --version >/dev/null && python3 -c "import getpass; print(getpass.getuser())"',
      {
        env: { GREETING: 'a "b" $c' },
      },
    );
    expect(said).toEqual({
      end: 'exited',
      exitCode: 0,
      stdout: 'agent\n/home/agent\n/home/agent|a "b" $c\nagent\n',
      stderr: '',
    });
    expect(await run('echo out; echo err >&2; cat; exit 3')).toMatchObject({
      exitCode: 3,
      stdout: 'out\n',
      stderr: 'err\n',
    });
  });

  it('can open /dev/stdout and /dev/stderr by name', async () => {
    const said = await run('echo a >/dev/stdout; echo b | tee /dev/stderr; echo c >/dev/stderr');
    expect(said).toEqual({ end: 'exited', exitCode: 0, stdout: 'a\nb\n', stderr: 'b\nc\n' });
  });

  it('keeps only the home folder', async () => {
    expect(await run('echo kept >~/kept; echo gone >/tmp/gone')).toMatchObject({ exitCode: 0 });
    expect(await run('cat ~/kept; ls /tmp')).toMatchObject({ stdout: 'kept\n' });
  });

  it('sees no other computer, no file of the server and no secret of the machine [CMP-001]', async () => {
    expect(readFileSync(join(other.home, 'private.txt'), 'utf8')).toBe('theirs\n');
    const names = [
      other.home,
      folders.sockets,
      dataDir,
      '/etc/shadow',
      '/root',
      '/var',
      '/work',
      process.cwd(),
      '/sys',
    ];
    const said = await run(names.map((name) => `ls '${name}' 2>/dev/null`).join('\n'));
    expect(said.stdout).toBe('');
    const found = await run(
      'find / -xdev -name private.txt -o -xdev -name master-key 2>/dev/null; grep -rs theirs /home /tmp /run',
    );
    expect(found.stdout).toBe('');
  });

  it('sees no process of the machine and cannot change its account', async () => {
    const { stdout } = await run(
      'cat /proc/*/cmdline | tr "\\0" " "; echo; grep -E "^Cap(Eff|Bnd)|NoNewPrivs" /proc/self/status',
    );
    expect(stdout).not.toContain('vitest');
    expect(stdout).toMatch(/CapEff:\s0{16}\n/);
    expect(stdout).toMatch(/NoNewPrivs:\s1\n/);
    expect((await run('unshare --user true')).exitCode).not.toBe(0);
    expect((await run('su -c id')).exitCode).not.toBe(0);
    expect((await run('mount -t tmpfs none /mnt || mkdir /x || touch /usr/x /etc/x /dev/x')).exitCode).not.toBe(0);
  });

  it('cannot make system calls to kernel tables, other processes or namespaces [CMP-181]', async () => {
    const { stdout, stderr } = await run(`python3 - <<'END'
${triedCalls}
END`);
    const answers = Object.fromEntries(stdout.split('\n').map((line) => line.split(' ')));
    expect([answers, stderr]).toEqual([
      {
        ptrace: 'EPERM',
        keyctl: 'EPERM',
        bpf: 'EPERM',
        userfaultfd: 'EPERM',
        perf_event_open: 'EPERM',
        unshare: 'EPERM',
        mount: 'EPERM',
        pidfd_getfd: 'EPERM',
        io_uring_setup: 'ENOSYS',
        clone3: 'ENOSYS',
        memfd_create: 'ENOSYS',
        clone_newuser: 'EPERM',
        vsock: 'EAFNOSUPPORT',
        resvsp: 'EPERM',
        shmget_large: 'EPERM',
        shmget_small: 'ok',
        '': undefined,
      },
      '',
    ]);
    // Punching a hole frees space. Reserving space would be faster than any measurement.
    expect((await run('echo x >f; fallocate -p -l 1 f && ! fallocate -l 1000000 f && stat -c %s f; rm f')).stdout).toBe(
      '2\n',
    );
  });

  it('cannot lower its own out-of-memory score [CMP-181]', async () => {
    const said = await run(
      'for it in self 1 $$; do echo 0 >/proc/$it/oom_score_adj; cat /proc/$it/oom_score_adj; done',
    );
    expect(said.stdout).toBe('1000\n1000\n1000\n');
  });

  it('has no variable of the server’s environment [CMP-182]', async () => {
    process.env.VESTRA_CANARY = 'of-the-server';
    const { stdout } = await run('cat /proc/*/environ /proc/*/cmdline | tr "\\0" "\\n"; ls /proc/self/fd >&2');
    delete process.env.VESTRA_CANARY;
    expect(stdout).toContain('HOME=/home/agent');
    expect(stdout).not.toMatch(/CANARY|of-the-server/);
  });

  it('hides its variables from other processes of the machine', async () => {
    const marker = `vestra-secret-${process.pid}`;
    const controller = new AbortController();
    const running = run('sleep 30', { env: { TOKEN: marker }, signal: controller.signal });
    running.catch(() => {});
    await expect.poll(() => commandLines().some((line) => line.includes('sleep 30')), { timeout: 10_000 }).toBe(true);
    expect(commandLines().filter((line) => line.includes(marker))).toEqual([]);
    controller.abort(new Error('stopped'));
    await expect(running).rejects.toThrow('stopped');
  });

  it('reaches the network only through the proxy, and no private address', async () => {
    const server = createServer((_request, response) => response.end('internal')).listen(0, '127.0.0.1');
    afterFile(async () => server.close());
    await expect.poll(() => server.listening).toBe(true);
    const { port } = server.address() as AddressInfo;
    const curl = (words: string) => run(`curl -sS -m 10 -o - -w ' %{http_code}' ${words}`);
    expect((await curl(`--noproxy '*' http://127.0.0.1:${port}/`)).exitCode).toBe(7);
    expect((await curl(`--noproxy '*' http://1.1.1.1/`)).exitCode).toBe(7);
    for (const address of [`127.0.0.1:${port}`, `localhost:${port}`, '169.254.169.254', '10.0.0.1', `[::1]:${port}`]) {
      const { stdout } = await curl(`--noproxy '' http://${address}/`);
      expect(stdout).toMatch(/cannot be reached\.\n 502$/);
    }
    expect((await curl(`--noproxy '' http://example.com:25/`)).stdout).toMatch(/not allowed here\.\n 403$/);
    expect(await curl('http://127.0.0.1:8123/')).toMatchObject({ exitCode: 7 });
  });

  it('reaches addresses that the operator allows at the first connection', async () => {
    const open = createConfinedHost({ allowPrivate: true, hasNetwork: true });
    const computerFolders = await newComputers();
    const mine = await computerFolders.folders(1);
    afterFile(() => open.release(mine));
    const server = createServer((_request, response) => response.end('internal')).listen(0, '127.0.0.1');
    afterFile(async () => server.close());
    await expect.poll(() => server.listening).toBe(true);
    const { port } = server.address() as AddressInfo;
    for (let time = 0; time < 5; time++) {
      expect(await say(open, mine, `curl -sS --noproxy '' http://127.0.0.1:${port}/`)).toMatchObject({
        stdout: 'internal',
      });
    }
    const offline = createConfinedHost({ allowPrivate: true, hasNetwork: false });
    expect((await say(offline, mine, `curl -sS --noproxy '' http://127.0.0.1:${port}/`)).exitCode).toBe(7);
  });

  it('is killed with all its children on timeout and on abort', async () => {
    const marker = `3${process.pid}.5`;
    const script = `setsid sleep ${marker} & (trap "" TERM INT; sleep ${marker}) & sleep ${marker}`;
    const late = run(script, { timeoutMs: 500 });
    expect(await late).toMatchObject({ end: 'timeout', exitCode: null });
    await expect
      .poll(() => commandLines().filter((line) => line.includes(`sleep ${marker}`)), { timeout: 10_000 })
      .toEqual([]);

    const controller = new AbortController();
    const stopped = run(script, { signal: controller.signal });
    await expect
      .poll(() => commandLines().some((line) => line.includes(`sleep ${marker}`)), { timeout: 10_000 })
      .toBe(true);
    controller.abort(new Error('stopped'));
    await expect(stopped).rejects.toThrow('stopped');
    await expect
      .poll(() => commandLines().filter((line) => line.includes(`sleep ${marker}`)), { timeout: 10_000 })
      .toEqual([]);
  });

  it('leaves nothing behind if it is killed, also during its setup', async () => {
    for (let time = 0; time < 40; time++) {
      const controller = new AbortController();
      const ended = run('touch begun; sleep 60', { signal: controller.signal });
      setTimeout(() => controller.abort(new Error('stopped')), time % 20);
      await expect(ended).rejects.toThrow('stopped');
    }
    const { identity } = folders;
    // The process that keeps the namespace of the computer stays until it is released.
    if (identity) await expect.poll(() => processesOf(identity.uid), { timeout: 10_000 }).toBe(1);
    expect(commandLines().filter((line) => line.includes('touch begun'))).toEqual([]);
    await run('rm -f begun');
  });

  it('leaves no process running after a command', async () => {
    const marker = `4${process.pid}.5`;
    expect(await run(`sleep ${marker} >/dev/null 2>&1 & echo done`)).toMatchObject({ exitCode: 0, stdout: 'done\n' });
    expect(commandLines().filter((line) => line.includes(`sleep ${marker}`))).toEqual([]);
  });

  it('limits the output of a command', async () => {
    const { stdout, stderr, exitCode } = await run(
      'echo first; head -c 10485760 /dev/zero | tr "\\0" x; echo; echo last; head -c 1048576 /dev/zero >&2',
    );
    expect(exitCode).toBe(0);
    expect(stdout.startsWith('first\nxxx')).toBe(true);
    expect(stdout.endsWith('xxx\nlast\n')).toBe(true);
    expect(stdout).toContain('\n[cut]\n');
    expect(Math.max(stdout.length, stderr.length)).toBeLessThan(257 * 1024);
  });

  it('limits the processes of all its commands together [CMP-183]', async () => {
    const bombs = await Promise.all([1, 2, 3].map(() => run('bomb() { bomb | bomb & }; bomb; sleep 5; echo over')));
    expect(bombs.filter(({ end }) => end === 'processes_full').length).toBeGreaterThanOrEqual(2);
    const sleeps = (many: number, seconds: number) =>
      run(`for n in $(seq ${many}); do sleep ${seconds} & done; wait; echo over`);
    expect(await sleeps(40, 1)).toMatchObject({ stdout: 'over\n' });
    // The command with most processes is ended, and the other continues.
    const most = run('for n in $(seq 45); do sleep 100 & done; touch all-begun; wait');
    await expect.poll(() => existsSync(join(folders.home, 'all-begun')), { timeout: 60_000 }).toBe(true);
    expect([(await sleeps(40, 10)).end, (await most).end]).toEqual(['exited', 'processes_full']);
    await run('rm all-begun');
    // The machine and the computer keep working.
    expect(await run('echo alive')).toMatchObject({ exitCode: 0, stdout: 'alive\n' });
  });

  it('never has more processes than its limit, also if no cgroup counts them [HRD-703]', async () => {
    // The server never looks here, so the kernel alone holds the limit.
    const unwatched = createConfinedHost({
      allowPrivate: false,
      hasNetwork: false,
      limits: { processes: 64, everyMs: 3_600_000 },
    });
    afterFile(() => unwatched.release(other));
    // Every process starts others for ever. If the kernel refuses, it tries again: no command ends by itself.
    const bomb = (number: number) => `exec python3 -c "
import os, time
open('begun.${number}', 'w').close()
while not os.path.exists('go'): time.sleep(0.05)
while True:
  try: os.fork()
  except OSError: pass
  time.sleep(0.2)"`;
    const stop = new AbortController();
    const options = { signal: stop.signal, timeoutMs: 600_000 };
    const bombs = [1, 2, 3, 4].map((number) =>
      say(unwatched, other, bomb(number), options).catch((error: Error) => error.message),
    );
    const begun = () => readdirSync(other.home).filter((name) => name.startsWith('begun.')).length;
    await expect.poll(begun, { timeout: 60_000 }).toBe(4);
    writeFileSync(join(other.home, 'go'), '');
    let most = 0;
    const count = () => {
      const found = withDescendants(process.pid).filter((pid) => /^(bash|python3.*|bwrap)$/.test(programOf(pid)));
      most = Math.max(most, found.length);
      return found.length;
    };
    await expect.poll(count, { timeout: 60_000, interval: 20 }).toBeGreaterThan(50);
    for (let looks = 0; looks < 100; looks++) count();
    stop.abort(new Error('stopped'));
    expect(await Promise.all(bombs)).toEqual(Array(4).fill('stopped'));
    // Each of the four commands begins with a few processes outside. Together they had 256 before.
    expect(most).toBeLessThan(64 + 4 * 4);
  });

  it('runs a few commands at once and queues the others [CMP-183]', async () => {
    const script = 'touch "turn.$$.$RANDOM"; sleep 0.3; ls | grep -c turn; rm turn.*';
    const few = createConfinedHost({ allowPrivate: false, hasNetwork: false, limits: { commandsAtOnce: 1 } });
    const said = await Promise.all([1, 2, 3].map(() => say(few, folders, script)));
    expect(said.map(({ stdout }) => stdout)).toEqual(['1\n', '1\n', '1\n']);
    const none = createConfinedHost({
      allowPrivate: false,
      hasNetwork: false,
      limits: { commandsAtOnce: 1, commandsWaiting: 0 },
    });
    const both = await Promise.all([say(none, folders, 'sleep 0.3'), say(none, folders, 'true')]);
    expect(both.map(({ exitCode, stderr }) => [exitCode, stderr])).toEqual([
      [0, ''],
      [1, 'Too much waits for this computer already. Wait for what runs on it.'],
    ]);
    const controller = new AbortController();
    const holding = say(few, folders, 'sleep 1');
    const waiting = say(few, folders, 'touch begun', { signal: controller.signal });
    controller.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
    await holding;
    expect((await say(few, folders, 'ls')).stdout).toBe('kept\n');
  });

  it('limits memory in one process, in many commands, shared memory and memory files [CMP-184]', async () => {
    const small = createConfinedHost({
      allowPrivate: false,
      hasNetwork: false,
      limits: { memoryBytes: 192 * megabyte, everyMs: 20 },
    });
    const holds = (megabytes: number) => `python3 -c "
import mmap, time
held = mmap.mmap(-1, ${megabytes} << 20)
for at in range(0, len(held), 4096): held[at] = 1
time.sleep(20)"`;
    expect(await say(small, folders, holds(300))).toMatchObject({ end: 'memory_full', exitCode: null });
    const both = [
      say(small, folders, `sleep 0.2; ${holds(150)}`),
      say(small, folders, `${holds(90)} & sleep 3; exit 7`),
    ];
    expect(await Promise.all(both)).toMatchObject([{ end: 'memory_full' }, { end: 'exited', exitCode: 7 }]);
    const inFiles = 'head -c 120000000 /dev/zero >/tmp/a; head -c 120000000 /dev/zero >/dev/shm/a; sleep 20';
    expect(await say(small, folders, inFiles)).toMatchObject({ end: 'memory_full' });
    const shared = `python3 -c "
import os, time
held = bytearray(100 << 20)
for child in range(3):
    if os.fork() == 0: time.sleep(2.5); os._exit(0)
time.sleep(3)"`;
    // Memory shared by forked processes counts once.
    expect(await say(small, folders, shared)).toMatchObject({ end: 'exited', exitCode: 0 });
  });

  it('limits disk usage in one file or many, and allows deleting [CMP-185]', async () => {
    const filled = await run('for n in 1 2 3 4; do head -c 1000000000 /dev/zero >"fill.$n" & done; wait');
    expect(filled).toMatchObject({ end: 'disk_full', exitCode: null });
    expect(sizeOf(folders.home)).toBeLessThan(1024 * megabyte);
    const after = await host.run(folders, { script: 'echo more >more; ls', env: {}, timeoutMs: 30_000, signal: never });
    expect(after.note).toMatch(
      /^The home folder is full: \d+ MB of 64 MB, \d+ of 2000 files\. The largest in it: fill\./,
    );
    expect(readFileSync(join(folders.home, 'more'), 'utf8')).toBe('');
    const small = [{ path: '/home/agent/more', bytes: Buffer.from('x') }];
    expect(await host.writeFiles(folders, small, { signal: never })).toEqual({
      fault: expect.stringContaining('The home folder is full'),
    });
    expect(await run('i=0; while :; do i=$((i+1)); mkdir "folder.$i"; done')).toMatchObject({ end: 'disk_full' });
    expect(await run('rm -rf fill.* folder.* more; ls')).toMatchObject({ exitCode: 0, stdout: 'kept\n' });
    expect(await run('echo again >again; cat again; rm again')).toMatchObject({ stdout: 'again\n' });
    const memory = await run(
      'head -c 700000000 /dev/zero >/tmp/fill; head -c 700000000 /dev/zero >/dev/shm/fill; true',
    );
    expect(memory.stderr).toMatch(/No space left[\s\S]*No space left/);
  });

  it('limits the disk usage of many small commands and files together [CMP-185]', async () => {
    const ends: string[] = [];
    for (let time = 0; time < 9; time++) {
      const more = await host.run(folders, {
        script: `head -c 10000000 /dev/zero >slow.${time}`,
        env: {},
        timeoutMs: 30_000,
        signal: never,
      });
      ends.push(more.note === undefined ? more.end : 'refused');
    }
    expect(ends.slice(-1)).toEqual(['refused']);
    expect(sizeOf(folders.home)).toBeLessThan(80 * megabyte);
    await run('rm slow.*');
    const files = Array.from({ length: 9 }, (_, at) => ({ path: `/home/agent/slow.${at}`, bytes: Buffer.alloc(1e7) }));
    const written = await Promise.all(files.map((file) => host.writeFiles(folders, [file], { signal: never })));
    expect(written.filter((fault) => fault !== null)).toHaveLength(3);
    await run('rm slow.*');
  });

  it('limits the number of files, and counts locked folders and deleted open files [CMP-185]', async () => {
    expect(await run('seq 3000 | xargs touch; sleep 20')).toMatchObject({ end: 'disk_full' });
    expect(await run('seq 3000 | xargs rm -f; ls')).toMatchObject({ stdout: 'kept\n' });
    const closed = 'mkdir closed; head -c 90000000 /dev/zero >closed/a & sleep 0.1; chmod 0 closed; sleep 20';
    expect(await run(closed)).toMatchObject({ end: 'disk_full' });
    await run('chmod 700 closed; rm -r closed');
    const nameless = 'exec 3>nameless; rm nameless; head -c 200000000 /dev/zero >&3; sleep 20';
    expect(await run(nameless)).toMatchObject({ end: 'disk_full' });
    expect((await run('ls')).stdout).toBe('kept\n');
  });

  describe('files of a computer', () => {
    const read = (path: string, from = 0, maxBytes = 1000) =>
      host.readFile(folders, path, { from, maxBytes, signal: never });
    const write = (path: string, content: string | Uint8Array) =>
      host.writeFiles(folders, [{ path, bytes: Buffer.from(content) }], { signal: never });

    it('are written completely, with their folders, and read in parts', async () => {
      const bytes = Buffer.from(Array.from({ length: 5000 }, (_, at) => at % 256));
      expect(
        await host.writeFiles(
          folders,
          [
            { path: '/home/agent/a/b/c.bin', bytes },
            { path: '/home/agent/a/run', bytes: Buffer.from('#!/bin/sh\necho ran\n'), isExecutable: true },
          ],
          { signal: never },
        ),
      ).toBeNull();
      expect(await read('/home/agent/a/b/c.bin', 10, 300)).toEqual({ size: 5000, bytes: bytes.subarray(10, 310) });
      expect(await run('a/run; rm -r a/b')).toMatchObject({ stdout: 'ran\n' });
      expect(await write('/home/agent/-n $(id) \'"\n.txt', 'odd')).toBeNull();
      expect(await read('/home/agent/-n $(id) \'"\n.txt')).toEqual({ size: 3, bytes: Buffer.from('odd') });
      if (process.getuid?.() === 0) expect(statSync(join(folders.home, 'a/run')).uid).toBe(folders.identity?.uid);
    });

    it('have distinct errors if they are missing, folders or special files', async () => {
      await run('mkdir -p folder; mkfifo pipe');
      expect(await read('/home/agent/none')).toEqual({ fault: 'There is no such file or folder.' });
      expect(await read('/home/agent/folder')).toEqual({ fault: 'That is a folder.' });
      expect(await read('/home/agent/pipe')).toEqual({ fault: 'That is no file.' });
      expect(await write('/home/agent/folder', 'x')).toEqual({ fault: 'That is a folder.' });
      const listed = await host.listFiles(folders, '/home/agent/none', { depth: 1, most: 5, signal: never });
      expect(listed).toEqual({ fault: 'There is no such file or folder.' });
    });

    it('never lead to another computer through a link [CMP-001]', async () => {
      await writeFile(join(dataDir, 'outside.txt'), 'of the server');
      for (const target of ['/etc/shadow', join(dataDir, 'outside.txt'), join(dataDir, 'master-key'), other.home]) {
        await run(`ln -sfn '${target}' link`);
        expect(await read('/home/agent/link')).toHaveProperty('fault');
        expect(await read('/home/agent/link/private.txt')).toHaveProperty('fault');
        expect(await host.listFiles(folders, '/home/agent/link', { depth: 1, most: 5, signal: never })).toHaveProperty(
          'fault',
        );
      }
      // A link created by a process with more rights leads nowhere either.
      await run('rm link');
      await symlink(join(dataDir, 'outside.txt'), join(folders.home, 'link'));
      expect(await read('/home/agent/link')).toHaveProperty('fault');
      expect(await write('/home/agent/link', 'overwritten')).toBeNull();
      expect(await readFile(join(dataDir, 'outside.txt'), 'utf8')).toBe('of the server');
      await run(`rm link; ln -s '${dataDir}' way`);
      expect(await write('/home/agent/way/planted', 'x')).toHaveProperty('fault');
      expect(existsSync(join(dataDir, 'planted'))).toBe(false);
    });

    it('are listed to a depth and up to a maximum', async () => {
      await run('mkdir -p list/a/b; echo 12345 >list/x; ln -s x list/y; touch list/a/b/deep');
      const list = (depth: number, most = 10) =>
        host.listFiles(folders, '/home/agent/list', { depth, most, signal: never });
      expect(await list(1)).toEqual({
        entries: [
          { kind: 'folder', size: expect.any(Number), path: 'a' },
          { kind: 'file', size: 6, path: 'x' },
          { kind: 'link', size: 1, path: 'y' },
        ],
        isCut: false,
      });
      expect(await list(2)).toMatchObject({ entries: [{ path: 'a' }, { path: 'a/b' }, { path: 'x' }, { path: 'y' }] });
      expect(await list(3, 2)).toMatchObject({ entries: { length: 2 }, isCut: true });
    });

    it('are removed if their folder is replaced', async () => {
      const files = (name: string) => [{ path: `/home/agent/skills/x/${name}`, bytes: Buffer.from(name) }];
      await host.writeFiles(folders, files('old'), { signal: never });
      await host.writeFiles(folders, files('new'), { instead: '/home/agent/skills/x', signal: never });
      expect(readdirSync(join(folders.home, 'skills/x'))).toEqual(['new']);
    });
  });
});

/** Prints how each call ends. The numbers are those of this architecture; the arguments are as harmless as possible. */
const triedCalls = `
import ctypes, errno, platform
libc = ctypes.CDLL(None, use_errno=True)
at = 0 if platform.machine() == 'x86_64' else 1
def answer(name, numbers, *given):
    result = libc.syscall(ctypes.c_long(numbers[at]), *[ctypes.c_long(each) for each in given])
    print(name, 'ok' if result >= 0 else errno.errorcode[ctypes.get_errno()])
answer('ptrace', (101, 117), 16, 1, 0, 0)
answer('keyctl', (250, 219), 0, -3, 1)
answer('bpf', (321, 280), 0, 0, 0)
answer('userfaultfd', (323, 282), 1)
answer('perf_event_open', (298, 241), 0, 0, -1, -1, 0)
answer('unshare', (272, 97), 0x10000000)
answer('mount', (165, 40), 0, 0, 0, 0, 0)
answer('pidfd_getfd', (438, 438), 0, 0, 0)
answer('io_uring_setup', (425, 425), 1, 0)
answer('clone3', (435, 435), 0, 0)
answer('memfd_create', (319, 279), 0, 0)
answer('clone_newuser', (56, 220), 0x10000000 | 17, 0, 0, 0, 0)
answer('vsock', (41, 198), 40, 1, 0)
answer('resvsp', (16, 29), 1, 0x4030582a, 0)
answer('shmget_large', (29, 194), 0, 1 << 33, 0o1600)
answer('shmget_small', (29, 194), 0, 56, 0o1600)
`;

/** The command lines of all processes of the machine. */
function commandLines(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')];
      } catch {
        return [];
      }
    });
}

const sizeOf = (folder: string) =>
  Number(execFileSync('du', ['-s', '-B1', folder], { encoding: 'utf8' }).split('\t')[0]);

function programOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return '';
  }
}

/** Without zombies. */
function processesOf(uid: number): number {
  return readdirSync('/proc').filter((name) => {
    try {
      const status = /^\d+$/.test(name) ? readFileSync(`/proc/${name}/status`, 'utf8') : '';
      return status.includes(`\nUid:\t${uid}\t`) && !/^State:\tZ/m.test(status);
    } catch {
      return false;
    }
  }).length;
}
