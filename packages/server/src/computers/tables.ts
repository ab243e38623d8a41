import type { Mode } from '@vestra/contract/route';
import { boolean, count, moment, table, text } from '../platform/db/table.ts';

const owner = {
  org_id: text(),
  mode: text<Mode>(),
  /** Empty for the org's own agent. */
  user_key: text(),
};

export const computers = table('computers', {
  ...owner,
  number: count(),
  held_by: text().nullable(),
  held_until: moment().nullable(),
  held_at: text().nullable(),
  epoch: count().withDefault(),
  keep_until: moment().nullable(),
  waking_since: moment().nullable(),
  saved_name: text().nullable(),
  saved_sha256: text().nullable(),
  saved_bytes: count().nullable(),
  saved_at: moment().nullable(),
  created_at: moment().withDefault(),
});

export const computerPreparations = table('computer_preparations', {
  ...owner,
  kind: text<'file' | 'repo' | 'setup' | 'skill' | 'upload' | 'output'>(),
  key: text(),
  fingerprint: text(),
  file_id: text().nullable(),
  conversation_id: text().nullable(),
  is_deleted: boolean().withDefault(),
  prepared_at: moment().withDefault(),
});

/** The processes on which computers can run. */
export const computerHosts = table('computer_hosts', {
  id: text(),
  address: text(),
  has_browser: boolean(),
  seen_until: moment(),
});
