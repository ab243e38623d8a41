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
  await vite.build(embedScript());
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  say(`Built the session page in ${seconds} s: ${sizeOf(join(dist, 'assets'))} KB (gzip).`);
  // The page of the API reference is this one file, whole as it comes.
  copyFileSync(fileURLToPath(import.meta.resolve('redoc/bundles/redoc.standalone.js')), join(dist, 'reference.js'));
}

/** `<vestra-session>` as one plain script: a page of any origin may load such a one, with no word of the server's. */
function embedScript() {
  const entry = fileURLToPath(import.meta.resolve('@vestra/react/element').replace('element.ts', 'embed.ts'));
  return {
    configFile: false as const,
    logLevel: 'warn' as const,
    build: {
      target: 'es2023',
      outDir: dist,
      emptyOutDir: false,
      reportCompressedSize: false,
      lib: { entry, formats: ['iife' as const], name: 'vestraEmbed', fileName: () => 'embed.js' },
    },
  };
}

function sizeOf(folder: string): number {
  const bytes = readdirSync(folder).map((file) => gzipSync(readFileSync(join(folder, file))).byteLength);
  return Math.round(bytes.reduce((sum, each) => sum + each, 0) / 1024);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
