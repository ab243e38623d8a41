import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The digest of a rendered file's sources: the chart without its version, which `npm run fix` writes, the values and
 * the renderer.
 */
export function madeOf(helm: string, example: string): string {
  const hash = createHash('sha256');
  const chart = globSync('vestra/**', { cwd: helm, exclude: (name) => name.startsWith('.') });
  const files = chart.filter((file) => /\.(yaml|tpl)$/.test(file)).sort();
  for (const file of [...files, 'render.go', `examples/${example}`]) {
    hash.update(`${file.replaceAll('\\', '/')}\n`).update(withoutVersion(readFileSync(join(helm, file), 'utf8')));
  }
  return hash.digest('hex');
}

const withoutVersion = (text: string) => text.replaceAll(/^(appV|v)ersion: .*$/gm, '');
