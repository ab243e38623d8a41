/** Builds the guide from `docs/` into one compressed file, which the server reads on the first request. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import type { Rolldown } from 'vite';
import { guideRoot } from './src/guide/shell.ts';
import { guideSite } from './src/guide/site.ts';

const folder = join(import.meta.dirname, 'src/guide');

export async function buildGuide(vite: typeof import('vite'), dist: string): Promise<number> {
  const site = await guideSite(join(import.meta.dirname, '../../docs'));
  site.set(`${guideRoot}/guide.css`, {
    mediaType: 'text/css; charset=utf-8',
    text: readFileSync(join(folder, 'guide.css'), 'utf8'),
  });
  site.set(`${guideRoot}/guide.js`, { mediaType: 'text/javascript; charset=utf-8', text: await script(vite) });
  const packed = zstdCompressSync(JSON.stringify(Object.fromEntries(site)));
  writeFileSync(join(dist, 'guide.json.zst'), packed);
  return packed.byteLength;
}

async function script({ build }: typeof import('vite')): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: 'warn',
    build: {
      write: false,
      target: 'es2023',
      reportCompressedSize: false,
      lib: {
        entry: join(folder, 'browser/main.ts'),
        formats: ['iife'],
        name: 'vestraGuide',
        fileName: () => 'guide.js',
      },
    },
  });
  const [{ output }] = [built].flat() as [Rolldown.RolldownOutput];
  return output[0].code;
}
