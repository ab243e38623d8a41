import type { FeedbackRow } from './tables.ts';

export const presentFeedback = (row: FeedbackRow) => ({
  object: 'message_feedback' as const,
  id: row.id,
  conversation_id: row.conversation_id,
  message_id: row.message_id,
  deployment_id: row.deployment_id,
  deployment_version: row.deployment_version,
  rating: row.rating,
  note: row.note,
  rater: { type: row.rater_type, id: row.rater_id || null },
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});
