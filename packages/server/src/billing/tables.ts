import type { spendKinds } from '@vestra/contract/usage';
import {
  boolean,
  day,
  integer,
  json,
  micros,
  moment,
  numeric,
  table,
  text,
  textArray,
  uuid,
} from '../platform/db/table.ts';
import type { MeteredUsage } from './charge-items.ts';

const tenant = {
  org_id: text(),
  mode: text<'test' | 'live'>(),
};

export const ledgerEntries = table('ledger_entries', {
  id: text(),
  transfer_id: text(),
  ...tenant,
  account: text<'wallet' | 'spend' | 'funding'>(),
  amount_micros: micros(),
  kind: text<(typeof spendKinds)[number]>().nullable(),
  model: text().nullable(),
  quantity: numeric().nullable(),
  unit: text().nullable(),
  unit_price_micros: numeric().nullable(),
  user_id: text().nullable(),
  deployment_id: text().nullable(),
  conversation_id: text().nullable(),
  task_id: text().nullable(),
  turn_id: text().nullable(),
  is_estimated: boolean().withDefault(),
  created_at: moment().withDefault(),
});

export const wallets = table('wallets', {
  ...tenant,
  balance_micros: micros().withDefault(),
});

export const spendDays = table('spend_days', {
  ...tenant,
  user_id: text(),
  day: day(),
  spend_micros: micros(),
});

const sums = {
  cost_micros: micros(),
  input_tokens: numeric(),
  output_tokens: numeric(),
};

export const usageSummedDays = table('usage_summed_days', { ...tenant, day: day() });

export const usageDays = table('usage_days', {
  ...tenant,
  user_id: text(),
  day: day(),
  deployment_id: text(),
  model: text(),
  kind: text(),
  ...sums,
});

export const usageWorkDays = table('usage_work_days', {
  ...tenant,
  user_id: text(),
  day: day(),
  conversation_id: text(),
  task_id: text(),
  deployment_id: text(),
  models: textArray().withDefault(),
  kinds: textArray().withDefault(),
  is_split: boolean().withDefault(),
  ...sums,
});

export const reservations = table('reservations', {
  id: uuid(),
  ...tenant,
  user_id: text(),
  amount_micros: micros(),
  expires_at: moment(),
  run_id: text().nullable(),
  used: json<MeteredUsage>().nullable(),
  metered_since: moment().nullable(),
});

export const usageAlertsTold = table('usage_alerts_told', {
  ...tenant,
  cap: text(),
  user_id: text(),
  period: text(),
  threshold: integer(),
  /** The same threshold of another amount is another alert. */
  cap_micros: micros(),
});
