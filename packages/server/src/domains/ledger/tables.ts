import { spendKinds } from '@vestra/contract/usage';
import { boolean, date, integer, json, numeric, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { micros, moment } from '../../db/columns.ts';
import type { Used } from './used.ts';

const tenant = {
  org_id: text().notNull(),
  mode: text().$type<'test' | 'live'>().notNull(),
};

export const ledgerEntries = pgTable('ledger_entries', {
  id: text().primaryKey(),
  transfer_id: text().notNull(),
  ...tenant,
  account: text({ enum: ['wallet', 'spend', 'funding'] }).notNull(),
  amount_micros: micros().notNull(),
  kind: text({ enum: spendKinds }),
  model: text(),
  quantity: numeric(),
  unit: text(),
  unit_price_micros: numeric(),
  user_id: text(),
  deployment_id: text(),
  conversation_id: text(),
  task_id: text(),
  turn_id: text(),
  is_estimated: boolean().notNull().default(false),
  created_at: moment().notNull().defaultNow(),
});

export const wallets = pgTable('wallets', {
  ...tenant,
  balance_micros: micros().notNull().default(0n),
});

export const spendDays = pgTable('spend_days', {
  ...tenant,
  user_id: text().notNull(),
  day: date().notNull(),
  spend_micros: micros().notNull(),
});

export const reservations = pgTable('reservations', {
  id: uuid().primaryKey(),
  ...tenant,
  user_id: text().notNull(),
  amount_micros: micros().notNull(),
  expires_at: moment().notNull(),
  run_id: text(),
  used: json().$type<Used>(),
  metered_since: moment(),
});

export const usageAlertsTold = pgTable('usage_alerts_told', {
  ...tenant,
  cap: text().notNull(),
  user_id: text().notNull(),
  period: text().notNull(),
  threshold: integer().notNull(),
});
