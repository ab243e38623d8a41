/** Builds the pages that the server serves into `dist`, and says so in one line. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const vite = await import('vite').catch(() => null);
if (!vite) say('The session page is not built: Vite is a development dependency and is not installed.');
else {
  const startedAt = performance.now();
  await vite.build({ configFile: join(import.meta.dirname, 'vite.config.ts'), logLevel: 'warn' });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  say(`Built the session page in ${seconds} s: ${sizeOf(join(import.meta.dirname, 'dist/assets'))} KB (gzip).`);
}

function sizeOf(folder: string): number {
  const bytes = readdirSync(folder).map((file) => gzipSync(readFileSync(join(folder, file))).byteLength);
  return Math.round(bytes.reduce((sum, each) => sum + each, 0) / 1024);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
