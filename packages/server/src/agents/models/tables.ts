import { moment, table, text } from '../../platform/db/table.ts';

export const modelAdjustments = table('model_adjustments', {
  endpoint: text(),
  key: text(),
  /** The id of the model in the process that learnt it. */
  model: text(),
  sentence: text(),
  learnt_at: moment().withDefault(),
});
