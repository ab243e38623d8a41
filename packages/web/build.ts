/** Builds the pages that the server serves into `dist`, and says so in one line. */
import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const dist = join(import.meta.dirname, 'dist');
const vite = await import('vite').catch(() => null);
if (!vite) say('The pages are not built: what builds them is a development dependency and is not installed.');
else {
  const startedAt = performance.now();
  await vite.build({ configFile: join(import.meta.dirname, 'vite.config.ts'), logLevel: 'warn' });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  say(`Built the session page in ${seconds} s: ${sizeOf(join(dist, 'assets'))} KB (gzip).`);
  // The page of the API reference is this one file, whole as it comes.
  copyFileSync(fileURLToPath(import.meta.resolve('redoc/bundles/redoc.standalone.js')), join(dist, 'reference.js'));
}

function sizeOf(folder: string): number {
  const bytes = readdirSync(folder).map((file) => gzipSync(readFileSync(join(folder, file))).byteLength);
  return Math.round(bytes.reduce((sum, each) => sum + each, 0) / 1024);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
