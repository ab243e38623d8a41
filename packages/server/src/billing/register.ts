import type { Kernel } from '../platform/kernel.ts';
import { anHour, type Registration } from '../platform/registration.ts';
import { eraseSpender } from './erase.ts';
import { foldLedger } from './fold.ts';
import { pruneReservations } from './holds-store.ts';
import { usageRoutes } from './routes.ts';

/** Names and caps of higher modules, which billing shows and checks. */
export type BillingPorts = Omit<Parameters<typeof usageRoutes>[0], 'db'> & Parameters<typeof foldLedger>[1];

export const register = ({ db }: Kernel, { emit, capsOfUsers, ...usage }: BillingPorts): Registration => ({
  routes: () => ({ usage: usageRoutes({ db, ...usage }) }),
  jobs: { 'ledger.fold': () => foldLedger(db, { emit, capsOfUsers }) },
  expiry: [{ days: anHour, prune: pruneReservations }],
  erasure: [eraseSpender],
});
