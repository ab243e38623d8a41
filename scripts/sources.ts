/** The shipped source files with their imports. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');

type Import = {
  specifier: string;
  line: number;
  isType: boolean;
  /** The source file it names; null for a package. */
  target: string | null;
};

export type Source = { file: string; text: string; imports: Import[] };

export function readSources(): Source[] {
  return globSync('packages/*/src/**/*.{ts,tsx}', { cwd: root })
    .filter((file) => !isTest(file))
    .sort()
    .map((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      return { file, text, imports: importsOf(file, text) };
    });
}

export function isTest(file: string): boolean {
  return /\.(test|fixture)\.tsx?$|\/testing\//.test(file);
}

/** Static and dynamic imports, and re-exports. */
export function importsOf(file: string, text: string): Import[] {
  const pattern = /^(?:import|export)\s+(type\s)?(?:[^'"`;]*?\sfrom\s+)?'([^']+)'|\bimport\('([^']+)'\)/gm;
  return [...text.matchAll(pattern)].map((match) => {
    const specifier = (match[2] ?? match[3]) as string;
    const isDynamic = match[3] !== undefined;
    return {
      specifier,
      line: lineAt(text, match.index),
      isType: isDynamic ? isTypeQuery(text, match.index) : match[1] !== undefined || isAllTypes(match[0]),
      target: targetOf(file, specifier),
    };
  });
}

/** `typeof import('…')` imports nothing at run time. */
const isTypeQuery = (text: string, index: number): boolean =>
  /typeof\s+$/.test(text.slice(Math.max(0, index - 20), index));

export const lineAt = (text: string, index: number): number => text.slice(0, index).split('\n').length;

/** `import { type A, type B } from …` imports nothing at run time. */
function isAllTypes(statement: string): boolean {
  const names = /\{([^}]*)\}/.exec(statement)?.[1];
  return names?.split(',').every((name) => name.trim() === '' || name.trim().startsWith('type ')) ?? false;
}

function targetOf(file: string, specifier: string): string | null {
  if (specifier.endsWith('.json')) return null;
  if (specifier.startsWith('.')) return join(dirname(file), specifier);
  const own = /^@vestra\/([a-z]+)\/(.+)$/.exec(specifier);
  return own ? `packages/${own[1]}/src/${own[2]}.ts` : null;
}

/** The imports between groups of files. `groupOf` returns the group of a file, or null. */
export function graphOf(
  sources: readonly Source[],
  groupOf: (file: string) => string | null,
): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>();
  for (const { file, imports } of sources) {
    const from = groupOf(file);
    if (from === null) continue;
    const named = graph.get(from) ?? new Set();
    graph.set(from, named);
    for (const { target } of imports) {
      const to = target === null ? null : groupOf(target);
      if (to !== null && to !== from) named.add(to);
    }
  }
  return graph;
}

/** The module of the server that a file belongs to; null outside of the server. */
export function moduleOf(file: string): string | null {
  return /^packages\/server\/src\/([a-z-]+)\//.exec(file)?.[1] ?? null;
}
