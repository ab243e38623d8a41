/**
 * `npm run production:try`: runs the commands of docs/production.md for one machine on a fresh Debian 12 with systemd.
 * The machine is a file tree in separate namespaces. A proxy is its only connection, so nothing in it is reachable from
 * outside. Run it by hand and as root, since it takes minutes and about 2 GB:
 *
 * apt-get install mmdebstrap socat
 * npm run build && npm run pack && npm run production:try
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

const root = join(import.meta.dirname, '..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const folder = mkdtempSync(join(tmpdir(), 'vestra-production-'));
const tree = join(folder, 'machine');
const loud = (file: string, ...words: string[]) => execFileSync(file, words, { stdio: 'inherit' });

if (process.getuid?.() !== 0 || !existsSync('/usr/bin/mmdebstrap')) stop('As root: apt-get install mmdebstrap socat');
if (!existsSync(join(root, `dist/vestra-${version}.tgz`)))
  stop('Make the package first: npm run build && npm run pack');

makeTree();
const wayOut = openWayOut(join(tree, 'way-out.sock'));
const machine = boot();
try {
  await until('systemd is up', () => inside('systemctl is-system-running | grep -qE "running|degraded"'));
  writeFileSync(join(tree, 'root/page.sh'), `set -euo pipefail\nset -x\n${commandsOfPage()}`);
  await inside('cd /root/vestra && exec bash /root/page.sh', true);
  const log = await inside('journalctl --unit vestra --no-pager --output cat');
  if (/just-bash|computers are unavailable/.test(log)) throw new Error(`Computers do not work under the unit:\n${log}`);
  const began = performance.now();
  await inside('systemctl stop vestra');
  const [result] = (await inside('systemctl show vestra --property Result --value')).split('\n');
  if (result !== 'success') throw new Error(`It was stopped with ${result}.`);
  console.log(`stopped after ${((performance.now() - began) / 1000).toFixed(1)} s`);
  console.log('Every command of the page was carried out.');
} catch (error) {
  console.error(await inside('journalctl --unit vestra --no-pager --lines 40').catch(() => ''));
  throw error;
} finally {
  machine.kill('SIGKILL');
  wayOut.close();
  wayOut.closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
}

function stop(why: string): never {
  console.error(why);
  process.exit(1);
}

/** The prerequisites of the page: Debian with systemd, Node, and the folders of the clone. */
function makeTree(): void {
  const given = 'systemd,systemd-sysv,dbus,ca-certificates,socat,iproute2';
  loud('mmdebstrap', '--variant=minbase', '--quiet', `--include=${given}`, 'bookworm', tree);
  cpSync(process.execPath, join(tree, 'usr/local/bin/node'));
  const npm = join(tree, 'usr/local/lib/node_modules/npm');
  mkdirSync(npm, { recursive: true });
  const words = ['pack', 'npm@11', '--pack-destination', folder, '--loglevel=error'];
  const file = execFileSync('npm', words, { encoding: 'utf8' }).trim().split('\n').at(-1) as string;
  loud('tar', '--extract', '--strip-components=1', '--file', join(folder, file), '--directory', npm);
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(tree, 'usr/local/bin/npm'));
  cpSync(join(root, 'deploy'), join(tree, 'root/vestra/deploy'), { recursive: true });
  mkdirSync(join(tree, 'root/vestra/dist'));
  const name = `dist/vestra-${version}.tgz`;
  cpSync(join(root, name), join(tree, 'root/vestra', name));
  const authorities = process.env.NODE_EXTRA_CA_CERTS;
  if (authorities) cpSync(authorities, join(tree, 'etc/ssl/certs/of-this-network.crt'));
  writeFileSync(join(tree, 'etc/hosts'), '127.0.0.1 localhost\n');
}

/** The blocks that the page marks as `machine`, in order and in one shell. */
function commandsOfPage(): string {
  const page = readFileSync(join(root, 'docs/production.md'), 'utf8');
  return [...page.matchAll(/^```sh machine\n([\s\S]*?)^```$/gm)].map(([, text]) => text).join('\n');
}

/** A proxy for apt and npm, on a socket in the machine's tree. */
function openWayOut(socket: string): Server {
  const server = createServer((asked, answer) => {
    const { method, headers } = asked;
    const onward = request(asked.url ?? '', { method, headers }, (found) => {
      answer.writeHead(found.statusCode ?? 502, found.headers);
      found.pipe(answer);
    });
    onward.on('error', () => answer.destroy());
    asked.pipe(onward);
  });
  server.on('connect', ({ url = '' }, client: Socket) => {
    const [host, port] = url.split(':');
    const onward = connect(Number(port), host, () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
    void pipeline(client, onward, client).catch(() => {});
  });
  return server.listen(socket);
}

function boot(): ChildProcess {
  const script = `
    set -e
    cd ${tree}
    mount --bind . . && cd ${tree}
    mount -t proc proc proc; mount -t sysfs sysfs sys
    mount -t cgroup2 cgroup2 sys/fs/cgroup
    mount -t tmpfs -o mode=755 tmpfs dev; mkdir dev/pts dev/shm
    for name in null zero full random urandom tty; do mknod -m 666 dev/$name c $(stat -c '%Hr %Lr' /dev/$name); done
    mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts; ln -s pts/ptmx dev/ptmx; ln -s /proc/self/fd dev/fd
    mount -t tmpfs -o mode=755 tmpfs run; mount -t tmpfs tmpfs tmp
    ip link set lo up
    pivot_root . mnt; umount -l /mnt
    # As an init finds it: mounts that one namespace of systemd makes, such as credentials, reach the others.
    mount --make-rshared /
    socat TCP-LISTEN:3128,bind=127.0.0.1,fork,reuseaddr UNIX-CONNECT:/way-out.sock &
    exec env -i container=namespaces PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --log-level=warning`;
  const apart = ['--net', '--pid', '--fork', '--kill-child', '--mount', '--uts', '--ipc', '--cgroup'];
  return spawn('unshare', [...apart, 'bash', '-c', script], { stdio: ['ignore', 'inherit', 'inherit'] });
}

/** Runs a command on the machine as root, with the proxy. */
async function inside(command: string, isShown = false): Promise<string> {
  const [first] = readFileSync(`/proc/${machine.pid}/task/${machine.pid}/children`, 'utf8').split(' ');
  const apart = [
    '--target',
    String(first),
    '--net',
    '--pid',
    '--mount',
    '--uts',
    '--ipc',
    '--cgroup',
    '--root',
    '--wd',
  ];
  const proxy = 'http://127.0.0.1:3128';
  const env = {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: '/root',
    DEBIAN_FRONTEND: 'noninteractive',
    http_proxy: proxy,
    https_proxy: proxy,
    no_proxy: '127.0.0.1,localhost,vestra.example.com',
    ...(process.env.NODE_EXTRA_CA_CERTS && { npm_config_cafile: '/etc/ssl/certs/of-this-network.crt' }),
  };
  // Must not block: this process is also the machine's proxy.
  const child = spawn('nsenter', [...apart, 'bash', '-c', command], {
    cwd: '/',
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said: Record<'stdout' | 'stderr', string> = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (chunk) => {
      said[name] += chunk;
      if (isShown) process.stdout.write(chunk);
    });
  }
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`It ended with ${code}: ${command}\n${isShown ? '' : said.stderr}`);
  return said.stdout;
}

async function until(what: string, isSo: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; tries < 120; tries++) {
    try {
      await isSo();
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
  throw new Error(`It never came to that: ${what}.`);
}
