import type { FileRow } from './tables.ts';

export const presentFile = (row: FileRow) => ({
  object: 'file' as const,
  id: row.id,
  user_id: row.user_id,
  filename: row.filename,
  mime_type: row.mime_type,
  size_bytes: row.size_bytes,
  source: row.source,
  task_id: row.task_id,
  conversation_id: row.conversation_id,
  created_at: row.created_at.toISOString(),
});
