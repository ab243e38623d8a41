import type { Api } from '@vestra/contract/api';
import type { ResponseOf } from '@vestra/contract/route';
import type { DeploymentRow, VersionRow } from './tables.ts';

type ShownVersion = ResponseOf<Api['deployments']['getVersion']>;

/** The latest test run of a version. */
export type VersionTests = NonNullable<ShownVersion['tests']>;

export const presentDeployment = (row: DeploymentRow) => ({
  object: 'deployment' as const,
  id: row.id,
  name: row.name,
  slug: row.slug,
  description: row.description,
  base: 'agent' as const,
  status: row.status,
  draft_version: row.draft_version,
  live_version: row.live_version,
  newest_version: row.newest_version,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

export const presentVersion = (
  row: VersionRow,
  { deployment, tests }: { deployment: DeploymentRow; tests: VersionTests | null },
): ShownVersion => ({
  object: 'deployment_version',
  deployment_id: row.deployment_id,
  version: row.version,
  note: row.note,
  manifest: row.manifest,
  changed: row.changed,
  missing: row.missing,
  tests,
  is_draft: row.version === deployment.draft_version,
  is_live: row.version === deployment.live_version,
  created_by: { type: row.created_by_type, id: row.created_by_id, name: row.created_by_name },
  created_at: row.created_at.toISOString(),
});
