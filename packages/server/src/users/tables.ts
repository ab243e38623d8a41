import type { memory } from '@vestra/contract/memory';
import type { Mode } from '@vestra/contract/route';
import type { z } from 'zod';
import { boolean, bytes, column, jsonb, micros, moment, type RowOf, table, text } from '../platform/db/table.ts';

export const users = table('users', {
  org_id: text(),
  mode: text<Mode>(),
  id: text(),
  name: text().nullable(),
  email: text().nullable(),
  locale: text().nullable(),
  timezone: text().nullable(),
  metadata: jsonb<Record<string, unknown>>().withDefault(),
  status: text<'active' | 'disabled'>().withDefault(),
  daily_cap_micros: micros().nullable(),
  monthly_cap_micros: micros().nullable(),
  default_deployment: text().nullable(),
  is_service_user: boolean().withDefault(),
  erasing_since: moment().nullable(),
  created_at: moment(),
});

export type UserRow = RowOf<typeof users>;

export type MemoryItem = z.infer<typeof memory.create.response>;

const words = () => column<string>('tsvector', { read: (text) => text });

export const memories = table('memories', {
  org_id: text(),
  mode: text<Mode>(),
  id: text(),
  /** Null for memories of the org's own agent. */
  user_id: text().nullable(),
  text: text(),
  kind: text<MemoryItem['kind']>(),
  source: text<MemoryItem['source']>(),
  fingerprint: bytes(),
  search: words(),
  vector: bytes().nullable(),
  /** If it is set and the vector is null, the model cannot read the text. */
  vector_model: text().nullable(),
  observed_at: moment(),
});

export const profiles = table('memory_profiles', {
  org_id: text(),
  mode: text<Mode>(),
  user_id: text().nullable(),
  markdown: text(),
  updated_at: moment(),
});

export const deletions = table('memory_deletions', {
  org_id: text(),
  mode: text<Mode>(),
  user_id: text().nullable(),
  deleted_at: moment(),
});

export type FactRow = Pick<RowOf<typeof memories>, 'id' | 'text' | 'kind' | 'source' | 'observed_at'>;
export type ProfileRow = Pick<RowOf<typeof profiles>, 'markdown' | 'updated_at'>;
