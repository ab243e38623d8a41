import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { chooseHost } from './choose-host.ts';
import { afterFile, newComputers, say } from './computer-folder.fixture.ts';
import type { ComputerFolders } from './computer-folder.ts';
import type { ComputerHost } from './computer-host.ts';

const isInstalled = existsSync('/usr/bin/runsc') || existsSync('/usr/local/bin/runsc');
if (!isInstalled) process.stderr.write('gVisor is not tried: runsc is not installed (apt install runsc busybox).\n');

const log = { warn: () => {}, error: () => {} };

describe.skipIf(!isInstalled)('a computer in gVisor', () => {
  let host: ComputerHost;
  let folders: ComputerFolders;
  let dataDir: string;

  beforeAll(async () => {
    const choice = await chooseHost({ setting: 'gvisor', allowPrivate: true, log });
    if (choice.host === null) throw new Error(choice.why);
    host = choice.host;
    const computerFolders = await newComputers();
    dataDir = computerFolders.dataDir;
    folders = await computerFolders.folders(1);
    await writeFile(join(dataDir, 'master-key'), 'the key', { mode: 0o600 });
    afterFile(() => host.release(folders));
  });

  it('has another kernel, with the home folder, programs and variables of the computer [CMP-280]', async () => {
    expect(host.kind).toBe('gvisor');
    const script = `dmesg | grep -o -m1 gVisor; whoami; pwd; echo "$GREETING"; echo made >made; ls; stat -c %s made
      mkdir packed; tar c --owner=7 --group=7 made | tar x -C packed && cat packed/made; rm -r packed; cat; echo a >/dev/stderr; exit 3`;
    expect(await say(host, folders, script, { env: { GREETING: 'a "b" $c' } })).toEqual({
      end: 'exited',
      exitCode: 3,
      stdout: 'gVisor\nagent\n/home/agent\na "b" $c\nmade\n5\nmade\n',
      stderr: 'a\n',
    });
    const made = join(folders.home, 'made');
    expect([readFileSync(made, 'utf8'), statSync(made).uid]).toEqual([
      'made\n',
      folders.identity?.uid ?? process.getuid?.(),
    ]);
  });

  it('sees nothing of the machine, nor the control socket of gVisor [CMP-280]', async () => {
    const script = `ls '${dataDir}' /var /root /work '${process.cwd()}' 2>/dev/null
      find / -path /proc -prune -o -path /usr -prune -o '(' -type s -o -name master-key -o -name config.json ')' -print
      cat /proc/*/cmdline | grep -c 'vites[t]'; grep -E '^Cap(Eff|Bnd)' /proc/self/status
      touch /usr/x /etc/x /etc/passwd; mount -t tmpfs none /mnt || echo refused`;
    const { stdout } = await say(host, folders, script);
    expect(stdout).toBe('/run/egress.sock\n0\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nrefused\n');
  });

  it('reaches the network only through the proxy [CMP-280]', async () => {
    const server = createServer((_request, response) => response.end('internal')).listen(0, '127.0.0.1');
    afterFile(async () => server.close());
    await expect.poll(() => server.listening).toBe(true);
    const { port } = server.address() as AddressInfo;
    const curl = (words: string) => `curl -sS -m 10 ${words} http://127.0.0.1:${port}/ 2>/dev/null || echo " $?"`;
    const said = await say(host, folders, `${curl(`--noproxy '*'`)}; ${curl(`--noproxy ''`)}`);
    expect(said.stdout).toBe(' 7\ninternal');
  });

  it('is killed with all its processes on timeout and on abort, and hides its variables [CMP-280]', async () => {
    const controller = new AbortController();
    const marker = `vestra-secret-${process.pid}`;
    const stopped = say(host, folders, 'touch begun; setsid sleep 60 & sleep 60', {
      env: { TOKEN: marker },
      signal: controller.signal,
    });
    stopped.catch(() => {});
    await expect.poll(() => existsSync(join(folders.home, 'begun')), { timeout: 10_000 }).toBe(true);
    expect(commandLines().filter((line) => line.includes(marker))).toEqual([]);
    expect(commandLines().filter((line) => line.startsWith('runsc-sandbox')).length).toBeGreaterThan(0);
    controller.abort(new Error('stopped'));
    await expect(stopped).rejects.toThrow('stopped');
    expect(await say(host, folders, 'sleep 60', { timeoutMs: 300 })).toMatchObject({ end: 'timeout', exitCode: null });
    const { identity } = folders;
    if (identity) await expect.poll(() => processesOf(identity.uid), { timeout: 10_000 }).toBe(0);
  });
});

/** The command lines of all processes of the machine. */
const commandLines = (): string[] => pids().map((pid) => read(`/proc/${pid}/cmdline`).replaceAll('\0', ' '));

const processesOf = (uid: number): number =>
  pids().filter((pid) => {
    const status = read(`/proc/${pid}/status`);
    return status.includes(`\nUid:\t${uid}\t`) && !/^State:\tZ/m.test(status);
  }).length;

const pids = () => readdirSync('/proc').filter((name) => /^\d+$/.test(name));

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
