import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');

/** Paths without a package are those of the server. */
const inTree = (path: string) => join(root, path.startsWith('packages/') ? path : `packages/server/src/${path}`);

const paths = [...page.matchAll(/`([a-z][\w-]*(?:\/[\w.-]+)*(?:\/|\/[\w.-]+\.ts))`/g)].map(([, path = '']) => path);
const named = [...page.matchAll(/`(\w+)`\s+\(`([\w./-]+\.ts)`\)/g)].map(([, name = '', file = '']) => ({ name, file }));

describe('docs/architecture.md', () => {
  it('names files and folders that exist', () => {
    expect(paths.length).toBeGreaterThan(60);
    expect(paths.filter((path) => !existsSync(inTree(path)))).toEqual([]);
  });

  it('names functions, types and tables that their file exports', () => {
    expect(named.length).toBeGreaterThan(50);
    const missing = named.filter(({ name, file }) => !isExported(name, inTree(file)));
    expect(missing.map(({ name, file }) => `${name} (${file})`)).toEqual([]);
  });

  it('names each function with its file once', () => {
    const names = named.map(({ name }) => name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});

function isExported(name: string, file: string): boolean {
  if (!existsSync(file)) return false;
  return new RegExp(`^export (?:async )?(?:function|const|class|type) ${name}\\b`, 'm').test(
    readFileSync(file, 'utf8'),
  );
}
