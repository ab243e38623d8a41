import { integer, moment, type RowOf, table, text } from '../../platform/db/table.ts';

export const skills = table('skills', {
  id: text(),
  org_id: text(),
  slug: text(),
  /** The name in SKILL.md, which agents use. */
  name: text(),
  description: text(),
  /** The number of the current version. */
  version_number: integer().withDefault(),
  hash: text(),
  created_at: moment().withDefault(),
  updated_at: moment().withDefault(),
});

export const skillVersions = table('skill_versions', {
  skill_id: text(),
  number: integer(),
  hash: text(),
  parent_hash: text().nullable(),
  name: text(),
  description: text(),
  created_at: moment().withDefault(),
});

export const skillTexts = table('skill_texts', {
  org_id: text(),
  sha256: text(),
  bytes: integer(),
  content: text(),
});

export const skillFiles = table('skill_files', {
  skill_id: text(),
  hash: text(),
  path: text(),
  org_id: text(),
  sha256: text(),
});

export type SkillRow = RowOf<typeof skills>;
export type SkillVersionRow = RowOf<typeof skillVersions>;
