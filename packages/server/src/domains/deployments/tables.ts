import { customType, integer, json, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { moment } from '../../db/columns.ts';
import type { FixedContent } from './content.ts';
import { completeManifest, type FileObjects, type Manifest } from './manifest.ts';

/** Whoever reads a version gets every key of today's manifest, also where the version is older than the key. */
const savedManifest = customType<{ data: Manifest; driverData: unknown }>({
  dataType: () => 'json',
  toDriver: (manifest) => JSON.stringify(manifest),
  fromDriver: (saved) => completeManifest(saved as Partial<Manifest>),
});

export const deployments = pgTable('deployments', {
  id: text().primaryKey(),
  org_id: text().notNull(),
  slug: text().notNull(),
  name: text().notNull(),
  description: text().notNull().default(''),
  status: text().$type<'active' | 'archived'>().notNull().default('active'),
  /** The highest number that was given. */
  last_version: integer().notNull().default(1),
  /** What a file is compared with, and what is meant where no version is named. */
  newest_version: integer().notNull().default(1),
  draft_version: integer().notNull().default(1),
  live_version: integer(),
  created_at: moment().notNull().defaultNow(),
  updated_at: moment().notNull().defaultNow(),
});

export const deploymentVersions = pgTable(
  'deployment_versions',
  {
    deployment_id: text().notNull(),
    version: integer().notNull(),
    org_id: text().notNull(),
    note: text(),
    manifest: savedManifest().notNull(),
    file_objects: json().$type<FileObjects>().notNull(),
    content: json().$type<FixedContent>().notNull(),
    /** Ids of notebooks and skills that have been deleted since. */
    missing: text().array().notNull().default([]),
    changed: text().array().notNull(),
    uses: text().array().notNull(),
    created_by_type: text().$type<'key' | 'member' | 'system'>().notNull(),
    created_by_id: text().notNull(),
    created_by_name: text().notNull(),
    created_at: moment().notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.deployment_id, table.version] })],
);

export const livePromotions = pgTable(
  'live_promotions',
  {
    deployment_id: text().notNull(),
    height: integer().notNull(),
    org_id: text().notNull(),
    version: integer().notNull(),
    created_at: moment().notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.deployment_id, table.height] })],
);

export type DeploymentRow = typeof deployments.$inferSelect;
export type VersionRow = typeof deploymentVersions.$inferSelect;
