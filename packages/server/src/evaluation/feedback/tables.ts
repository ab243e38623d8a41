import type { Mode } from '@vestra/contract/route';
import { integer, moment, type RowOf, table, text } from '../../platform/db/table.ts';

export const messageFeedback = table('message_feedback', {
  id: text(),
  org_id: text(),
  mode: text<Mode>(),
  conversation_id: text(),
  message_id: text(),
  deployment_id: text(),
  deployment_version: integer(),
  rater_type: text<'user' | 'member' | 'key'>(),
  rater_id: text(),
  rating: text<'good' | 'bad'>(),
  note: text().nullable(),
  created_at: moment().withDefault(),
  updated_at: moment().withDefault(),
});

export type FeedbackRow = RowOf<typeof messageFeedback>;
