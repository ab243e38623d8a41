import type { Mode } from '@vestra/contract/route';
import { boolean, bytes, integer, moment, table, text } from '../db/table.ts';

export const idempotencyKeys = table('idempotency_keys', {
  org_id: text(),
  mode: text<Mode>(),
  route: text(),
  key: text(),
  request_hash: bytes(),
  /** Null, like `answer`, until the transaction has done the work. */
  status: integer().nullable(),
  answer: bytes().nullable(),
  encrypted: boolean().withDefault(),
  created_at: moment().withDefault(),
});

export const rateWindows = table('rate_windows', {
  bucket: text(),
  started_at: moment(),
  used: integer(),
});
