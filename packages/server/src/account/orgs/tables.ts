import type { memoryModes } from '@vestra/contract/account';
import type { Opening } from '@vestra/contract/opening';
import type { Mode } from '@vestra/contract/route';
import {
  boolean,
  bytes,
  integer,
  integerArray,
  jsonb,
  micros,
  moment,
  type RowOf,
  table,
  text,
  textArray,
} from '../../platform/db/table.ts';

/** What both modes of an org share. */
export const orgs = table('orgs', {
  id: text(),
  name: text(),
  status: text().withDefault(),
  max_org_daily_micros: micros().withDefault(),
  wrapped_data_key: bytes(),
  created_at: moment().withDefault(),
});

/** What each mode of an org has of its own: what is set with a test key never reaches live users. */
export const orgSettings = table('org_settings', {
  org_id: text(),
  mode: text<Mode>(),
  allowed_return_urls: textArray().withDefault(),
  allowed_embed_origins: textArray().withDefault(),
  default_deployment: text().nullable(),
  require_user: boolean().withDefault(),
  memory_panel: boolean().withDefault(),
  memory_mode: text<(typeof memoryModes)[number]>().withDefault(),
  memory_endpoint: text().nullable(),
  memory_secret_number: integer().withDefault(),
  memory_secret_rolled_at: moment().nullable(),
  otlp_endpoint: text().nullable(),
  otlp_headers_secret: text().nullable(),
  otlp_content: boolean().withDefault(),
  /** By the slug of a deployment, or `*`: which models answer while the vendor of its own is away. */
  model_fallbacks: jsonb<Record<string, string[]>>().withDefault(),
  /** By the slug of a deployment, or `*`: what the page of a session says first. */
  openings: jsonb<Record<string, Opening>>().withDefault(),
  org_daily_micros: micros().nullable(),
  user_daily_micros: micros().nullable(),
  org_monthly_micros: micros().nullable(),
  user_monthly_micros: micros().nullable(),
  alert_thresholds: integerArray().withDefault(),
});

export type OrgRow = RowOf<typeof orgs>;
export type OrgSettings = RowOf<typeof orgSettings>;
