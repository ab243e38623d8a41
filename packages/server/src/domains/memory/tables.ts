import type { memory } from '@vestra/contract/memory';
import type { Mode } from '@vestra/contract/route';
import { customType, pgTable, text } from 'drizzle-orm/pg-core';
import type { z } from 'zod';
import { bytes, moment } from '../../db/columns.ts';

export type MemoryItem = z.infer<typeof memory.create.response>;

const words = customType<{ data: string }>({ dataType: () => 'tsvector' });

export const memories = pgTable('memories', {
  org_id: text().notNull(),
  mode: text().$type<Mode>().notNull(),
  id: text().notNull(),
  /** Null for what the org's own agent remembers. */
  user_id: text(),
  text: text().notNull(),
  kind: text().$type<MemoryItem['kind']>().notNull(),
  source: text().$type<MemoryItem['source']>().notNull(),
  fingerprint: bytes().notNull(),
  search: words().notNull(),
  vector: bytes(),
  /** Set with a null vector where the model cannot read the text. */
  vector_model: text(),
  observed_at: moment().notNull(),
});

export const profiles = pgTable('memory_profiles', {
  org_id: text().notNull(),
  mode: text().$type<Mode>().notNull(),
  user_id: text(),
  markdown: text().notNull(),
  updated_at: moment().notNull(),
});

export type FactRow = Pick<typeof memories.$inferSelect, 'id' | 'text' | 'kind' | 'source' | 'observed_at'>;
export type ProfileRow = Pick<typeof profiles.$inferSelect, 'markdown' | 'updated_at'>;
