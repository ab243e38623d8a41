/** Builds the wheel and the source package of the Python client into `dist/`, with Debian's hatchling. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const python = '/usr/bin/python3';

const run = (...words: string[]) =>
  spawnSync(python, words, { cwd: join(root, 'packages/python'), stdio: 'inherit' }).status ?? 1;

if (run('-c', 'import hatchling') !== 0) {
  console.error('The package is built by hatchling: apt install python3-hatchling');
  process.exit(1);
}
process.exit(run('-m', 'hatchling', 'build', '-d', join(root, 'dist')));
