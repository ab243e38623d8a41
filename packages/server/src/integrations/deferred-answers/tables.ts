import type { Mode } from '@vestra/contract/route';
import { boolean, count, json, moment, type RowOf, table, text } from '../../platform/db/table.ts';

export const clientAnswers = table('client_answers', {
  id: text(),
  org_id: text(),
  mode: text<Mode>(),
  conversation_id: text(),
  turn_id: text(),
  /** The turn's events up to this one belong to an answer before. */
  after_seq: count(),
  /** The answer that the client went on from by its name. */
  previous_id: text().nullable(),
  /** As the client named it. */
  model: text(),
  /** From a function's name here to the client's own. */
  tool_names: json<Record<string, string>>(),
  is_structured: boolean(),
  /** Whether it can be asked for again. */
  is_kept: boolean(),
  request_digest: text(),
  talk_digest: text().nullable(),
  created_at: moment().withDefault(),
});

export type ClientAnswer = RowOf<typeof clientAnswers>;
