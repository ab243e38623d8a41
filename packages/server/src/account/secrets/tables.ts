import type { Mode } from '@vestra/contract/route';
import { bytes, moment, type RowOf, table, text } from '../../platform/db/table.ts';

export const secrets = table('secrets', {
  org_id: text(),
  mode: text<Mode>(),
  /** Empty for a secret of the company's own. */
  user_id: text().withDefault(),
  name: text(),
  sealed_value: bytes(),
  created_at: moment().withDefault(),
  updated_at: moment().withDefault(),
});

export type SecretRow = RowOf<typeof secrets>;
