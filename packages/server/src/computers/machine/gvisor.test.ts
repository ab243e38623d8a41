import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { chooseHost } from './choose-host.ts';
import { afterFile, newPlaces, say } from './computer-folder.fixture.ts';
import type { Place } from './computer-folder.ts';
import type { ComputerHost } from './computer-host.ts';

const isInstalled = existsSync('/usr/bin/runsc') || existsSync('/usr/local/bin/runsc');
if (!isInstalled) process.stderr.write('gVisor is not tried: runsc is not installed (apt install runsc busybox).\n');

const log = { warn: () => {}, error: () => {} };

describe.skipIf(!isInstalled)('a computer in gVisor', () => {
  let host: ComputerHost;
  let place: Place;
  let dataDir: string;

  beforeAll(async () => {
    const choice = await chooseHost({ setting: 'gvisor', allowPrivate: true, log });
    if (choice.host === null) throw new Error(choice.why);
    host = choice.host;
    const places = await newPlaces();
    dataDir = places.dataDir;
    place = await places.place(1);
    await writeFile(join(dataDir, 'master-key'), 'the key', { mode: 0o600 });
    afterFile(() => host.rest(place));
  });

  it('is another kernel, with the home folder, programs and variables of the computer [CMP-280]', async () => {
    expect(host.kind).toBe('gvisor');
    const script = `dmesg | grep -o -m1 gVisor; whoami; pwd; echo "$GREETING"; echo made >made; ls; stat -c %s made
      mkdir packed; tar c --owner=7 --group=7 made | tar x -C packed && cat packed/made; rm -r packed; cat; echo a >/dev/stderr; exit 3`;
    expect(await say(host, place, script, { env: { GREETING: 'a "b" $c' } })).toEqual({
      end: 'exited',
      exitCode: 3,
      stdout: 'gVisor\nagent\n/home/agent\na "b" $c\nmade\n5\nmade\n',
      stderr: 'a\n',
    });
    const made = join(place.home, 'made');
    expect([readFileSync(made, 'utf8'), statSync(made).uid]).toEqual([
      'made\n',
      place.identity?.uid ?? process.getuid?.(),
    ]);
  });

  it('sees nothing of the machine’s, nor what gVisor itself is reached by [CMP-280]', async () => {
    const script = `ls '${dataDir}' /var /root /work '${process.cwd()}' 2>/dev/null
      find / -path /proc -prune -o -path /usr -prune -o '(' -type s -o -name master-key -o -name config.json ')' -print
      cat /proc/*/cmdline | grep -c 'vites[t]'; grep -E '^Cap(Eff|Bnd)' /proc/self/status
      touch /usr/x /etc/x /etc/passwd; mount -t tmpfs none /mnt || echo refused`;
    const { stdout } = await say(host, place, script);
    expect(stdout).toBe('/run/egress.sock\n0\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nrefused\n');
  });

  it('reaches no network but through the proxy [CMP-280]', async () => {
    const server = createServer((_request, response) => response.end('internal')).listen(0, '127.0.0.1');
    afterFile(async () => server.close());
    await expect.poll(() => server.listening).toBe(true);
    const { port } = server.address() as AddressInfo;
    const curl = (words: string) => `curl -sS -m 10 ${words} http://127.0.0.1:${port}/ 2>/dev/null || echo " $?"`;
    const said = await say(host, place, `${curl(`--noproxy '*'`)}; ${curl(`--noproxy ''`)}`);
    expect(said.stdout).toBe(' 7\ninternal');
  });

  it('ends with all that runs in it, by time or by whoever asked, and tells nobody its variables [CMP-280]', async () => {
    const controller = new AbortController();
    const marker = `vestra-secret-${process.pid}`;
    const stopped = say(host, place, 'touch begun; setsid sleep 60 & sleep 60', {
      env: { TOKEN: marker },
      signal: controller.signal,
    });
    stopped.catch(() => {});
    await expect.poll(() => existsSync(join(place.home, 'begun')), { timeout: 10_000 }).toBe(true);
    expect(commandLines().filter((line) => line.includes(marker))).toEqual([]);
    expect(commandLines().filter((line) => line.startsWith('runsc-sandbox')).length).toBeGreaterThan(0);
    controller.abort(new Error('stopped'));
    await expect(stopped).rejects.toThrow('stopped');
    expect(await say(host, place, 'sleep 60', { timeoutMs: 300 })).toMatchObject({ end: 'timeout', exitCode: null });
    const { identity } = place;
    if (identity) await expect.poll(() => processesOf(identity.uid), { timeout: 10_000 }).toBe(0);
  });
});

/** Of everything that runs on the machine. */
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
