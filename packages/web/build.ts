/** Builds the pages that the server serves into `dist`, and says so in one line. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { buildGuide } from './build-guide.ts';
import { writeLlms } from './build-llms.ts';

const dist = join(import.meta.dirname, 'dist');
const vite = await import('vite').catch(() => null);
if (!vite) say('The pages are not built: what builds them is a development dependency and is not installed.');
else {
  const { pageConfig } = await import('./vite.config.ts');
  const startedAt = performance.now();
  await vite.build(pageConfig('session'));
  await vite.build(embedScript());
  await vite.build(pageConfig('console'));
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const sizes = consoleSizes();
  say(
    `Built the session page (${sizeOf(join(dist, 'assets'))} KB gzip) and the console (${sizes.first} KB at the first look, ${sizes.all} KB with every page) in ${seconds} s.`,
  );
  // The page of the API reference is this one file, whole as it comes; packed, it is a third of its size.
  const reference = readFileSync(fileURLToPath(import.meta.resolve('redoc/bundles/redoc.standalone.js')));
  writeFileSync(join(dist, 'reference.js.zst'), zstdCompressSync(reference));
  writeLlms(dist);
  const guideStartedAt = performance.now();
  const bytes = await buildGuide(vite, dist);
  say(
    `Built the guide in ${((performance.now() - guideStartedAt) / 1000).toFixed(1)} s: ${Math.round(bytes / 1024)} KB (packed).`,
  );
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

/** What a browser loads before the first page of the console is shown, that page aside, and all there is to load. */
function consoleSizes(): { first: number; all: number } {
  const folder = join(dist, 'console/assets');
  const html = readFileSync(join(dist, 'console/console.html'), 'utf8');
  return { first: sizeOf(folder, (file) => html.includes(file)), all: sizeOf(folder) };
}

function sizeOf(folder: string, isCounted: (file: string) => boolean = () => true): number {
  const bytes = readdirSync(folder)
    .filter(isCounted)
    .map((file) => gzipSync(readFileSync(join(folder, file))).byteLength);
  return Math.round(bytes.reduce((sum, each) => sum + each, 0) / 1024);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
