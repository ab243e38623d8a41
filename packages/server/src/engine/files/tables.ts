import type { Mode } from '@vestra/contract/route';
import { count, moment, type NewRowOf, type RowOf, table, text } from '../../platform/db/table.ts';

export const files = table('files', {
  id: text(),
  org_id: text(),
  mode: text<Mode>(),
  user_id: text().nullable(),
  filename: text().nullable(),
  mime_type: text().nullable(),
  size_bytes: count().nullable(),
  sha256: text(),
  source: text<'upload' | 'output' | 'tool'>(),
  task_id: text().nullable(),
  conversation_id: text().nullable(),
  created_at: moment().withDefault(),
});

export const unusedContents = table('unused_contents', {
  org_id: text(),
  name: text(),
  since: moment().withDefault(),
});

export type FileRow = RowOf<typeof files>;
export type NewFile = NewRowOf<typeof files>;
