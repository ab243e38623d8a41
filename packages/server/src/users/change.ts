import { fail } from '@vestra/contract/errors';
import { findSettings, recordAudit } from '../account/index.ts';
import type { Origin } from '../platform/caller.ts';
import type { Transaction } from '../platform/db/pool.ts';
import type { Profile } from './make.ts';
import { lockUser, updateUser } from './store.ts';
import type { UserRow } from './tables.ts';
import { readCap } from './user.ts';

export type UserChanges = Profile & {
  spend_cap_usd?: number | null | undefined;
  monthly_cap_usd?: number | null | undefined;
  default_deployment?: string | null | undefined;
  status?: UserRow['status'] | undefined;
};

export async function changeUser(
  tx: Transaction,
  origin: Origin,
  userId: string,
  { spend_cap_usd, monthly_cap_usd, ...rest }: UserChanges,
): Promise<UserRow> {
  const before = await lockUser(tx, origin, userId);
  if (!before || before.erasing_since) throw fail('user_not_found');
  const settings = await findSettings(tx, origin);
  const changes: Partial<UserRow> = { ...rest } as Partial<UserRow>;
  if (spend_cap_usd !== undefined) {
    changes.daily_cap_micros = readCap(spend_cap_usd, 'spend_cap_usd', [
      settings.user_daily_micros,
      settings.org_daily_micros,
    ]);
  }
  if (monthly_cap_usd !== undefined) {
    changes.monthly_cap_micros = readCap(monthly_cap_usd, 'monthly_cap_usd', [
      settings.user_monthly_micros,
      settings.org_monthly_micros,
    ]);
  }
  const row = await updateUser(tx, origin, userId, changes);
  await recordAudit(tx, origin, {
    action: 'user.updated',
    target: { type: 'user', id: userId },
    details: { changed: Object.keys(changes) },
  });
  return row;
}
