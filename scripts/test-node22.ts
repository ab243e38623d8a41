/** Tests the package on Node 22, which it downloads: `npm run test:node22`. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const name = `node-${process.platform}-${process.arch}`;
const folder = mkdtempSync(join(tmpdir(), 'vestra-node22-'));
writeFileSync(join(folder, 'package.json'), '{}');
run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--silent', `${name}@22`], { cwd: folder });
const status = run('npx', ['vitest', 'run', 'tests/scenarios/package.test.ts'], {
  cwd: join(import.meta.dirname, '..'),
  env: { ...process.env, VESTRA_PACKAGE_NODE: join(folder, 'node_modules', name, 'bin/node') },
});
rmSync(folder, { recursive: true });
process.exit(status);

function run(command: string, words: string[], options: { cwd: string; env?: NodeJS.ProcessEnv }): number {
  return spawnSync(command, words, { ...options, stdio: 'inherit' }).status ?? 1;
}
