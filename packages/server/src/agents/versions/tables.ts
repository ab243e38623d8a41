import { column, integer, json, moment, type RowOf, table, text, textArray } from '../../platform/db/table.ts';
import { completeManifest, type FileObjects, type FixedContent, type Manifest } from './manifest.ts';

/** Reading adds the keys that are newer than the version. */
const savedManifest = () =>
  column<Manifest>('json', {
    read: (text) => completeManifest(JSON.parse(text) as Partial<Manifest>),
    write: (manifest) => JSON.stringify(manifest),
  });

export const deploymentVersions = table('deployment_versions', {
  deployment_id: text(),
  version: integer(),
  org_id: text(),
  note: text().nullable(),
  manifest: savedManifest(),
  file_objects: json<FileObjects>(),
  content: json<FixedContent>(),
  /** Ids of notebooks, skills and tool servers that were deleted after the version was saved. */
  missing: textArray().withDefault(),
  changed: textArray(),
  uses: textArray(),
  /** When the version first went live; null if it never did. */
  live_at: moment().nullable(),
  created_by_type: text<'key' | 'member' | 'mcp_grant' | 'system'>(),
  created_by_id: text(),
  created_by_name: text(),
  created_at: moment().withDefault(),
});

export const livePromotions = table('live_promotions', {
  deployment_id: text(),
  height: integer(),
  org_id: text(),
  version: integer(),
  created_at: moment().withDefault(),
});

export type VersionRow = RowOf<typeof deploymentVersions>;
