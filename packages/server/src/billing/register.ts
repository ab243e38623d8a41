import type { Kernel } from '../platform/kernel.ts';
import { anHour, type Registration } from '../platform/registration.ts';
import { eraseBudgetOwner } from './budget-owner.ts';
import { pruneReservations } from './holds.ts';
import { rollUpBalances } from './roll-up-balances.ts';
import { usageRoutes } from './usage.ts';

/** Names and caps of higher modules, which billing shows and checks. */
export type BillingPorts = Omit<Parameters<typeof usageRoutes>[0], 'db'> & Parameters<typeof rollUpBalances>[1];

export const register = ({ db }: Kernel, { emit, capsOfUsers, ...usage }: BillingPorts): Registration => ({
  routes: () => ({ usage: usageRoutes({ db, ...usage }) }),
  jobs: {
    'ledger.fold': () => rollUpBalances(db, { emit, capsOfUsers }),
    'usage.sum': async (_payload, { signal }) => (await import('./sum-usage.ts')).sumUsageDays(db, signal),
  },
  expiry: [{ days: anHour, prune: pruneReservations }],
  erasure: [eraseBudgetOwner],
});
