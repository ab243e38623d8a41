import type { Opening } from '@vestra/contract/opening';
import type { Mode } from '@vestra/contract/route';
import {
  boolean,
  bytes,
  integer,
  jsonb,
  moment,
  type NewRowOf,
  type RowOf,
  table,
  text,
} from '../../platform/db/table.ts';

export const sessions = table('sessions', {
  id: text(),
  org_id: text(),
  mode: text<Mode>(),
  user_id: text().nullable(),
  conversation_id: text().nullable(),
  /** Of the conversation. */
  deployment_id: text().nullable(),
  token_hash: bytes(),
  chat: boolean(),
  screen: text<'false' | 'view' | 'control'>(),
  voice: text().nullable(),
  memory: boolean(),
  driver: text(),
  opening: jsonb<Opening>().nullable(),
  /** How many it has begun. */
  voice_calls: integer().withDefault(),
  expires_at: moment(),
  revoked_at: moment().nullable(),
  created_at: moment().withDefault(),
});

export type SessionRow = RowOf<typeof sessions>;
export type NewSession = NewRowOf<typeof sessions>;
