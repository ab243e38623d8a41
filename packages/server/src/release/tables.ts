import type { Mode } from '@vestra/contract/route';
import { integer, moment, table, text } from '../platform/db/table.ts';

export const pendingPromotions = table('pending_promotions', {
  deployment_id: text(),
  mode: text<Mode>(),
  org_id: text(),
  run_id: text(),
  version: integer(),
  created_at: moment().withDefault(),
});
