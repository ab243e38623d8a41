import { integer, pgTable, text } from 'drizzle-orm/pg-core';
import { moment } from '../../db/columns.ts';

export const skills = pgTable('skills', {
  id: text().primaryKey(),
  org_id: text().notNull(),
  slug: text().notNull(),
  /** The one in SKILL.md, by which agents call it. */
  name: text().notNull(),
  description: text().notNull(),
  /** Of the current version. */
  version_number: integer().notNull().default(1),
  hash: text().notNull(),
  created_at: moment().notNull().defaultNow(),
  updated_at: moment().notNull().defaultNow(),
});

export const skillVersions = pgTable('skill_versions', {
  skill_id: text().notNull(),
  number: integer().notNull(),
  hash: text().notNull(),
  parent_hash: text(),
  name: text().notNull(),
  description: text().notNull(),
  created_at: moment().notNull().defaultNow(),
});

export const skillTexts = pgTable('skill_texts', {
  org_id: text().notNull(),
  sha256: text().notNull(),
  bytes: integer().notNull(),
  content: text().notNull(),
});

export const skillFiles = pgTable('skill_files', {
  skill_id: text().notNull(),
  hash: text().notNull(),
  path: text().notNull(),
  org_id: text().notNull(),
  sha256: text().notNull(),
});

export type SkillRow = typeof skills.$inferSelect;
export type SkillVersionRow = typeof skillVersions.$inferSelect;
