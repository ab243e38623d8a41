/** Builds `brand/`: what pages without a bundler of their own load at a fixed address, as the guide and the start page do. */
import { copyFileSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const identity = join(import.meta.dirname, 'src/identity');
const typeface = dirname(fileURLToPath(import.meta.resolve('@fontsource-variable/geist/package.json')));

export function buildIdentity(folder: string): void {
  const brand = join(folder, 'brand');
  mkdirSync(brand, { recursive: true });
  const faces = readFileSync(join(typeface, 'wght.css'), 'utf8').replaceAll('url(./files/', 'url(./');
  writeFileSync(join(brand, 'identity.css'), faces + readFileSync(join(identity, 'tokens.css'), 'utf8'));
  for (const file of globSync('files/*-wght-normal.woff2', { cwd: typeface }))
    copyFileSync(join(typeface, file), join(brand, basename(file)));
  // The licence of the typeface goes wherever the typeface goes.
  copyFileSync(join(typeface, 'LICENSE'), join(brand, 'geist-licence.txt'));
  for (const file of ['mark.svg', 'social.png']) copyFileSync(join(identity, file), join(brand, file));
}
