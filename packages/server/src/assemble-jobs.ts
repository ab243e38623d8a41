import type { Database } from './db/pool.ts';
import { emit } from './domains/events/api.ts';
import { eraseSpender, foldLedger } from './domains/ledger/api.ts';
import { removeSecretsOfUser } from './domains/secrets/api.ts';
import { removeSessionsOfUser } from './domains/sessions/api.ts';
import { capsOf, type EraseStep, eraseUser, unfinishedErasures } from './domains/users/api.ts';
import { housekeeping } from './housekeeping.ts';
import type { catalog } from './jobs/catalog.ts';
import type { SweepSource } from './jobs/sweep.ts';
import type { JobHandlers } from './jobs/worker.ts';

/** What each domain does to forget a user, in the order in which nothing can grow again behind it. */
const eraseSteps: readonly EraseStep[] = [removeSessionsOfUser, removeSecretsOfUser, eraseSpender];

/** Where each domain keeps work that must have a job. */
export const sweepSources: SweepSource[] = [unfinishedErasures];

export function assembleJobs(db: Database): JobHandlers<typeof catalog> {
  return {
    'ledger.fold': () => foldLedger(db, { emit, capsOfUsers: capsOf }),
    'user.erase': ({ org_id, mode, user_id }) => eraseUser(db, eraseSteps, { orgId: org_id, mode }, user_id),
    housekeeping: () => housekeeping(db),
  };
}
