import type { BuiltInSkill } from './built-in.ts';
import type { SkillRow, SkillVersionRow } from './tables.ts';

export const presentSkill = (row: SkillRow) => ({
  object: 'skill' as const,
  id: row.id,
  source: 'company' as const,
  slug: row.slug,
  name: row.name,
  description: row.description,
  version: row.hash,
  sha256: row.hash,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

export const presentBuiltIn = ({ name, description }: BuiltInSkill) => ({
  object: 'skill' as const,
  id: null,
  source: 'built_in' as const,
  slug: name,
  name,
  description,
  version: null,
  sha256: null,
  created_at: null,
  updated_at: null,
});

export const presentVersion = (row: SkillVersionRow) => ({
  object: 'skill_version' as const,
  hash: row.hash,
  parent_hash: row.parent_hash,
  created_at: row.created_at.toISOString(),
});
