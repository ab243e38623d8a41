import type { Executor } from '../../db/pool.ts';
import { builtInSkills } from './built-in.ts';
import { findSkill, listFiles } from './store.ts';
import type { SkillRow } from './tables.ts';

type SkillText = { name: string; description: string; files: { path: string; content: string }[] };

/** A skill as a deployment names it: the org's own by id, one that comes with the service by name. */
export async function readSkill(
  db: Executor,
  orgId: string,
  which: { id: string } | { name: string },
): Promise<SkillText | undefined> {
  if ('name' in which) return builtInSkills().find(({ name }) => name === which.name);
  const found = await readCompanySkill(db, orgId, which.id);
  return found && { name: found.row.slug, description: found.row.description, files: found.files };
}

export async function readCompanySkill(
  db: Executor,
  orgId: string,
  skillId: string,
): Promise<{ row: SkillRow; files: { path: string; bytes: number; content: string }[] } | undefined> {
  const row = await findSkill(db, orgId, skillId);
  if (!row) return undefined;
  const files = await listFiles(db, row);
  // Every skill has a file: with none left, it was deleted between the two queries.
  return files.length === 0 ? undefined : { row, files };
}
