/**
 * Builds the wheel and the source package of the Python client into `dist/`. pip fetches the build tool into a temporary
 * folder if this Python has none, so that nothing has to be installed by hand.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const python = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3';

const run = (words: string[], env: NodeJS.ProcessEnv = {}, stdio: 'inherit' | 'ignore' = 'inherit') =>
  spawnSync(python, words, { cwd: join(root, 'packages/python'), stdio, env: { ...process.env, ...env } }).status ?? 1;

const build = (env: NodeJS.ProcessEnv) => run(['-m', 'hatchling', 'build', '-d', join(root, 'dist')], env);

if (run(['-c', 'import hatchling'], {}, 'ignore') === 0) process.exit(build({}));
const tools = mkdtempSync(join(tmpdir(), 'vestra-build-python-'));
let status = run(['-m', 'pip', 'install', '--quiet', '--target', tools, 'hatchling>=1.12']);
if (status === 0) status = build({ PYTHONPATH: tools });
else
  console.error(
    'pip could not fetch hatchling, which builds the package. Check the network, and that python3 has pip.',
  );
rmSync(tools, { recursive: true, force: true });
process.exit(status);
