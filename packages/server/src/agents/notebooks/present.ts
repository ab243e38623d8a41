import type { ShownDocument } from './store.ts';
import type { NotebookRow } from './tables.ts';

export const presentNotebook = (row: NotebookRow) => ({
  object: 'notebook' as const,
  id: row.id,
  slug: row.slug,
  name: row.name,
  description: row.description,
  access: row.reader_ids ? { mode: 'users' as const, user_ids: row.reader_ids } : { mode: 'all' as const },
  document_count: row.document_count,
  bytes: row.bytes,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

export const presentDocument = (row: ShownDocument) => ({
  object: 'document' as const,
  id: row.id,
  notebook_id: row.notebook_id,
  title: row.title,
  content_type: row.content_type,
  bytes: row.bytes,
  sha256: row.sha256,
  indexed: row.indexed,
  created_at: row.created_at.toISOString(),
});
