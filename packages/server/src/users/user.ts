import { type Failure, fail } from '@vestra/contract/errors';
import { type Micros, microsToUsd, usdToMicros } from '@vestra/contract/money';
import type { UserRow } from './tables.ts';

/** The id is free again when the erasure is done. */
export function refuseErasing(row: Pick<UserRow, 'erasing_since'>): void {
  if (row.erasing_since) throw beingErased();
}

/** Why nobody acts for this user; null where anybody may. */
export function refusalOf({ erasing_since, status }: Pick<UserRow, 'erasing_since' | 'status'>): Failure | null {
  if (erasing_since) return beingErased();
  return status === 'disabled' ? fail('user_disabled') : null;
}

const beingErased = () => fail('user_disabled', { message: 'This user is being erased. Try again when it is done.' });

/** A user's own cap is never above what the org lets every user spend, nor above the org's own. */
export function readCap(
  wanted: number | null,
  param: 'spend_cap_usd' | 'monthly_cap_usd',
  ceilings: readonly (Micros | null)[],
): Micros | null {
  if (wanted === null) return null;
  const cap = usdToMicros(wanted);
  const ceiling = ceilings
    .filter((each) => each !== null)
    .reduce<Micros | null>((least, each) => (least === null || each < least ? each : least), null);
  if (ceiling !== null && cap > ceiling) {
    throw fail('cap_above_maximum', {
      param,
      message: `${wanted} is above the org’s cap of ${microsToUsd(ceiling)} US dollars.`,
    });
  }
  return cap;
}
