/**
 * Adds the optional packages of other platforms to the lock files. npm omits them if its registry lacks one, and `npm
 * ci` rejects a lock without them. Packages in the registry get their checksum; the others get name, version and
 * platform. `--check` only reports missing ones.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

type Entry = {
  version: string;
  dev?: true;
  optionalDependencies?: Record<string, string>;
  [field: string]: unknown;
};

type Lock = { packages: Record<string, Entry> };

const root = join(import.meta.dirname, '..');
const isCheck = process.argv.includes('--check');

for (const file of ['package-lock.json', 'scripts/linter/package-lock.json']) {
  const lock = JSON.parse(readFileSync(join(root, file), 'utf8')) as Lock;
  const missing = missingIn(lock);
  if (isCheck) {
    for (const { name } of missing) console.error(`${file} lacks ${name}: run npm run lock`);
    if (missing.length > 0) process.exitCode = 1;
    continue;
  }
  for (const { name, version, dev } of missing) {
    const known = fromRegistry(`${name}@${version}`);
    console.log(`${name}@${version}${known ? '' : ': not in this registry, written without a checksum'}`);
    lock.packages[`node_modules/${name}`] = {
      version,
      ...(known ?? machineOf(name)),
      ...(dev && { dev }),
      optional: true,
    };
  }
  const sorted = Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en'));
  writeFileSync(join(root, file), `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, null, 2)}\n`);
}

function missingIn(lock: Lock) {
  return Object.entries(lock.packages).flatMap(([place, { dev, optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies).flatMap(([name, version]) =>
      isLocked(lock, place, name) ? [] : [{ name, version, dev }],
    ),
  );
}

/** Resolves like Node: in the folder of the importing package, and in each folder above. */
function isLocked(lock: Lock, place: string, name: string): boolean {
  if (lock.packages[`${place === '' ? '' : `${place}/`}node_modules/${name}`]) return true;
  return place !== '' && isLocked(lock, place.slice(0, Math.max(0, place.lastIndexOf('/node_modules/'))), name);
}

function fromRegistry(spec: string): Record<string, unknown> | null {
  const words = ['view', '--json', spec, 'dist.integrity', 'license', 'os', 'cpu', 'libc', 'engines'];
  const { status, stdout } = spawnSync('npm', words, { encoding: 'utf8' });
  if (status !== 0 || stdout === '') return null;
  const { 'dist.integrity': integrity, os, cpu, libc, ...rest } = JSON.parse(stdout);
  return { integrity, ...rest, ...list('os', os), ...list('cpu', cpu), ...list('libc', libc) };
}

/** `@rolldown/binding-linux-x64-musl`: a platform package names its platform. */
function machineOf(name: string): Record<string, unknown> {
  const words = name.replace(/^@[^/]+\//, '').split('-');
  const find = (known: readonly string[]) => words.find((word) => known.includes(word));
  const os = find(['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32']);
  const cpu = find(['arm', 'arm64', 'ia32', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64']);
  const libc = words.some((word) => word.startsWith('musl')) ? 'musl' : words.includes('gnu') ? 'glibc' : undefined;
  return { ...list('cpu', cpu), ...list('libc', libc), ...list('os', os) };
}

function list(field: string, value: string | string[] | undefined): Record<string, string[]> {
  return value === undefined ? {} : { [field]: [value].flat() };
}
