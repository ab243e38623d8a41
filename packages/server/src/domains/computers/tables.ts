import type { Mode } from '@vestra/contract/route';
import { bigint, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { moment } from '../../db/columns.ts';

const owner = {
  org_id: text().notNull(),
  mode: text().$type<Mode>().notNull(),
  /** Empty: the org's own agent. */
  user_key: text().notNull(),
};

export const computers = pgTable(
  'computers',
  {
    ...owner,
    number: bigint({ mode: 'number' }).notNull(),
    held_by: text(),
    held_until: moment(),
    keep_until: moment(),
    waking_since: moment(),
    created_at: moment().notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.org_id, table.mode, table.user_key] })],
);

export const computerPreparations = pgTable(
  'computer_preparations',
  {
    ...owner,
    kind: text({ enum: ['file', 'repo', 'setup', 'skill', 'upload'] }).notNull(),
    key: text().notNull(),
    fingerprint: text().notNull(),
    prepared_at: moment().notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.org_id, table.mode, table.user_key, table.kind, table.key] })],
);
