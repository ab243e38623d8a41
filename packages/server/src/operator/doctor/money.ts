import { microsToUsd } from '@vestra/contract/money';
import { findSettings } from '../../account/index.ts';
import { balanceOf } from '../../billing/roll-up-balances.ts';
import type { Database } from '../../platform/db/pool.ts';
import { type Finding, ok, warn } from './finding.ts';

const mostOrgs = 20;

/** Orgs that run something live and have nothing to pay it with, and the caps that will stop the others. */
export async function moneyFindings(db: Database, used: readonly { org_id: string }[]): Promise<Finding[]> {
  const orgIds = [...new Set(used.map(({ org_id }) => org_id))].slice(0, mostOrgs);
  return Promise.all(orgIds.map((orgId) => moneyOf(db, orgId)));
}

async function moneyOf(db: Database, orgId: string): Promise<Finding> {
  const tenant = { orgId, mode: 'live' as const };
  const balance = await balanceOf(db, tenant);
  if (balance <= 0n) {
    return warn(
      'money',
      `${orgId} has a live version and an empty live wallet`,
      `vestra admin credit --org ${orgId} --mode live --usd 50`,
    );
  }
  const { org_daily_micros: ofOrg, user_daily_micros: ofUser } = await findSettings(db, tenant);
  const cap = (micros: bigint | null) => (micros === null ? 'nothing' : `${microsToUsd(micros)} USD a day`);
  return ok(
    'money',
    `${orgId} has ${microsToUsd(balance)} USD live, capped at ${cap(ofOrg)} and ${cap(ofUser)} of each user`,
  );
}
