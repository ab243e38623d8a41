import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Frontmatter, readFrontmatter } from './frontmatter.ts';

export type BuiltInSkill = Frontmatter & { files: { path: string; content: string }[] };

const folder = join(import.meta.dirname, '..', '..', '..', 'skills');
let loaded: readonly BuiltInSkill[] | undefined;

/** The skills that come with the service, by name. They change with the installation alone, so they are read once. */
export function builtInSkills(): readonly BuiltInSkill[] {
  loaded ??= readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => read(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return loaded;
}

function read(name: string): BuiltInSkill {
  const files = readdirSync(join(folder, name), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    // Python keeps compiled copies beside a script that somebody ran in place.
    .filter((file) => !file.includes('__pycache__'))
    .map((file) => ({
      path: file.slice(join(folder, name).length + 1).replaceAll('\\', '/'),
      content: readFileSync(file, 'utf8'),
    }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
  const main = files.find(({ path }) => path === 'SKILL.md');
  return { ...readFrontmatter(main?.content ?? '', name), files };
}
