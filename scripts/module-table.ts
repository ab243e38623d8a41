import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Module, otherFolders, packages, serverModules } from './modules.ts';

const root = join(import.meta.dirname, '..');

/** Folders that git ignores. */
const made = new Set(['node_modules', 'dist', 'coverage']);

/** The tables of packages and modules in CONTRIBUTING.md. Throws if a folder has no row, or a row no folder. */
export function moduleTable(): string {
  assertSame('packages', foldersOf('packages'), Object.keys(packages));
  assertSame('packages/server/src', foldersOf('packages/server/src'), Object.keys(serverModules));
  assertSame(
    'the root',
    foldersOf('.').filter((name) => name !== 'packages'),
    Object.keys(otherFolders),
  );
  return `${[
    table('package', packages, (name) => `packages/${name}`),
    'In `packages/server/src`, each module imports only the modules in its row, through their `index.ts`:',
    table('module', serverModules, (name) => `${name}/`),
    Object.entries(otherFolders)
      .map(([name, holds]) => `- \`${name}/\`: ${holds}`)
      .join('\n'),
  ].join('\n\n')}\n`;
}

const foldersOf = (folder: string): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .filter((name) => !name.startsWith('.') && !made.has(name))
    .sort();

function assertSame(where: string, folders: readonly string[], rows: readonly string[]): void {
  const [unnamed, gone] = [
    folders.filter((name) => !rows.includes(name)),
    rows.filter((name) => !folders.includes(name)),
  ];
  if (unnamed.length + gone.length === 0) return;
  throw new Error(
    `scripts/modules.ts does not match ${where}: without a row ${unnamed.join(', ') || 'none'}, without a folder ${gone.join(', ') || 'none'}.`,
  );
}

function table(title: string, modules: Record<string, Module>, pathOf: (name: string) => string): string {
  const rows = Object.entries(modules).map(
    ([name, { holds, imports }]) =>
      `| \`${pathOf(name)}\` | ${holds} | ${imports.map((each) => (each === '*' ? 'all' : `\`${each}\``)).join(', ') || '–'} |`,
  );
  return [`| ${title} | contents | may import |`, '|---|---|---|', ...rows].join('\n');
}
