/** Builds the pages of the server into `dist`. */
import { globSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { buildGuide } from './build-guide.ts';
import { buildIdentity } from './build-identity.ts';
import { writeLlms } from './build-llms.ts';

const dist = join(import.meta.dirname, 'dist');
/** A temporary folder, so that a running server keeps its pages during the build. */
const made = join(dist, `.made-${process.pid}`);
// Overrides the shell: the development build of React is larger and slower.
process.env.NODE_ENV = 'production';
const vite = await import('vite').catch(() => null);
if (!vite) say('The pages are not built: what builds them is a development dependency and is not installed.');
else {
  const { pageConfig } = await import('./vite.config.ts');
  const startedAt = performance.now();
  await vite.build(pageConfig('session', made));
  await vite.build(embedScript());
  await vite.build(pageConfig('console', made));
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const sizes = consoleSizes();
  say(
    `Built the session page (${sizeOf(join(made, 'assets'), (file) => !file.endsWith('.woff2'))} KB gzip without its fonts) and the console (${sizes.first} KB at the first look, ${sizes.all} KB with every page) in ${seconds} s.`,
  );
  buildIdentity(made);
  writeLlms(made);
  const guideStartedAt = performance.now();
  const bytes = await buildGuide(vite, made);
  say(
    `Built the guide and the API reference in ${((performance.now() - guideStartedAt) / 1000).toFixed(1)} s: ${Math.round(bytes / 1024)} KB (packed).`,
  );
  putInPlace();
}

/** Moves assets first, then pages, and deletes outdated files last. */
function putInPlace(): void {
  const filesIn = (folder: string) =>
    globSync('**/*', { cwd: folder, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
      .filter((file) => !file.startsWith('.made-'));
  const files = filesIn(made).sort((a, b) => Number(a.endsWith('.html')) - Number(b.endsWith('.html')));
  for (const file of files) {
    mkdirSync(dirname(join(dist, file)), { recursive: true });
    renameSync(join(made, file), join(dist, file));
  }
  rmSync(made, { recursive: true });
  const isMade = new Set(files);
  for (const file of filesIn(dist)) if (!isMade.has(file)) rmSync(join(dist, file), { force: true });
}

/** `<vestra-session>` as a classic script, which any origin can load without CORS. */
function embedScript() {
  const entry = fileURLToPath(import.meta.resolve('@vestra/react/element').replace('element.ts', 'embed.ts'));
  return {
    configFile: false as const,
    logLevel: 'warn' as const,
    build: {
      target: 'es2023',
      outDir: made,
      emptyOutDir: false,
      reportCompressedSize: false,
      lib: { entry, formats: ['iife' as const], name: 'vestraEmbed', fileName: () => 'embed.js' },
    },
  };
}

/** The size of the console's first load without the page itself, and of everything. */
function consoleSizes(): { first: number; all: number } {
  const folder = join(made, 'console/assets');
  const html = readFileSync(join(made, 'console/console.html'), 'utf8');
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
