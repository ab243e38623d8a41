/** Builds the guide from `docs/` and the API reference from the contract into one compressed file, which the server reads on the first request. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import type { Rolldown } from 'vite';
import { guideRoot, referenceRoot } from './src/guide/shell.ts';
import { guideSite } from './src/guide/site.ts';

const folder = join(import.meta.dirname, 'src/guide');

export async function buildGuide(vite: typeof import('vite'), dist: string): Promise<number> {
  const site = await guideSite(join(import.meta.dirname, '../../docs'));
  site.set(`${guideRoot}/guide.css`, {
    mediaType: 'text/css; charset=utf-8',
    text: readFileSync(join(folder, 'guide.css'), 'utf8'),
  });
  const javascript = 'text/javascript; charset=utf-8';
  site.set(`${guideRoot}/guide.js`, { mediaType: javascript, text: await script(vite, 'guide') });
  site.set(`${referenceRoot}/reference.js`, { mediaType: javascript, text: await script(vite, 'reference') });
  const packed = zstdCompressSync(JSON.stringify(Object.fromEntries(site)));
  writeFileSync(join(dist, 'guide.json.zst'), packed);
  return packed.byteLength;
}

async function script({ build }: typeof import('vite'), of: 'guide' | 'reference'): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: 'warn',
    build: {
      write: false,
      target: 'es2023',
      reportCompressedSize: false,
      lib: {
        entry: join(import.meta.dirname, 'src', of, 'browser/main.ts'),
        formats: ['iife'],
        name: `vestra_${of}`,
        fileName: () => `${of}.js`,
      },
    },
  });
  const [{ output }] = [built].flat() as [Rolldown.RolldownOutput];
  return output[0].code;
}
