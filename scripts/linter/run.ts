/** Runs Biome with these arguments. It is downloaded on first use: 94 MB that neither the start nor the tests need. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = import.meta.dirname;
const installed = join(folder, 'node_modules/@biomejs/biome');

if (!existsSync(installed) || manifestOf(installed).version !== manifestOf(folder).dependencies['@biomejs/biome']) {
  console.error('Fetching Biome …');
  const { status } = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--prefix', folder], { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}
const { status } = spawnSync(join(installed, 'bin/biome'), process.argv.slice(2), { stdio: 'inherit' });
process.exit(status ?? 1);

function manifestOf(folder: string) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}
