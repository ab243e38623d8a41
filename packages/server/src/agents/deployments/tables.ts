import { integer, moment, type RowOf, table, text } from '../../platform/db/table.ts';

export const deployments = table('deployments', {
  id: text(),
  org_id: text(),
  slug: text(),
  name: text(),
  description: text().withDefault(),
  status: text<'active' | 'archived'>().withDefault(),
  /** The highest number that was given. */
  last_version: integer().withDefault(),
  /** What a file is compared with, and what is meant where no version is named. */
  newest_version: integer().withDefault(),
  draft_version: integer().withDefault(),
  live_version: integer().nullable(),
  created_at: moment().withDefault(),
  updated_at: moment().withDefault(),
});

export type DeploymentRow = RowOf<typeof deployments>;
