import { integer, moment, type RowOf, table, text } from '../../platform/db/table.ts';

export const deployments = table('deployments', {
  id: text(),
  org_id: text(),
  slug: text(),
  name: text(),
  description: text().withDefault(),
  status: text<'active' | 'archived'>().withDefault(),
  /** The highest version number so far. */
  last_version: integer().withDefault(),
  /** The version that a file is compared with, and the default if a request names no version. */
  newest_version: integer().withDefault(),
  draft_version: integer().withDefault(),
  live_version: integer().nullable(),
  created_at: moment().withDefault(),
  updated_at: moment().withDefault(),
});

export type DeploymentRow = RowOf<typeof deployments>;
