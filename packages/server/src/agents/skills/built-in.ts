import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Frontmatter } from './frontmatter.ts';

export type BuiltInSkill = Frontmatter & { files: { path: string; content: string }[] };

const folder = join(import.meta.dirname, '..', '..', '..', 'skills');
let loaded: Promise<readonly BuiltInSkill[]> | undefined;

/** The skills that come with the service, by name. They change with the installation alone, so they are read once. */
export function builtInSkills(): Promise<readonly BuiltInSkill[]> {
  loaded ??= readAll();
  return loaded;
}

async function readAll(): Promise<readonly BuiltInSkill[]> {
  const { readFrontmatter } = await import('./frontmatter.ts');
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => {
      const files = filesOf(name);
      const main = files.find(({ path }) => path === 'SKILL.md');
      return { ...readFrontmatter(main?.content ?? '', name), files };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function filesOf(name: string): BuiltInSkill['files'] {
  return (
    readdirSync(join(folder, name), { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      // Python keeps compiled copies beside a script that somebody ran in place.
      .filter((file) => !file.includes('__pycache__'))
      .map((file) => ({
        path: file.slice(join(folder, name).length + 1).replaceAll('\\', '/'),
        content: readFileSync(file, 'utf8'),
      }))
      .sort((a, b) => (a.path < b.path ? -1 : 1))
  );
}
