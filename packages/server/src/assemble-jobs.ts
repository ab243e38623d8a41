import type { FileStore } from './adapters/files/file-store.ts';
import type { Database } from './db/pool.ts';
import { emit } from './domains/events/api.ts';
import { fileEraser } from './domains/files/api.ts';
import { eraseSpender, foldLedger } from './domains/ledger/api.ts';
import { deleteRoutinesOf } from './domains/routines/api.ts';
import { removeSecretsOfUser } from './domains/secrets/api.ts';
import { removeSessionsOfUser } from './domains/sessions/api.ts';
import { capsOf, type EraseStep, eraseUser, unfinishedErasures } from './domains/users/api.ts';
import { housekeeping } from './housekeeping.ts';
import type { catalog } from './jobs/catalog.ts';
import type { SweepSource } from './jobs/sweep.ts';
import type { JobHandlers } from './jobs/worker.ts';

/** What each domain does to forget a user, in the order in which nothing can grow again behind it. */
const eraseSteps = (files: FileStore): readonly EraseStep[] => [
  removeSessionsOfUser,
  deleteRoutinesOf,
  fileEraser(files),
  removeSecretsOfUser,
  eraseSpender,
];

/** Where each domain keeps work that must have a job. */
export const sweepSources: SweepSource[] = [unfinishedErasures];

export function assembleJobs(db: Database, files: FileStore): JobHandlers<typeof catalog> {
  const steps = eraseSteps(files);
  return {
    'ledger.fold': () => foldLedger(db, { emit, capsOfUsers: capsOf }),
    'user.erase': ({ org_id, mode, user_id }) => eraseUser(db, steps, { orgId: org_id, mode }, user_id),
    housekeeping: () => housekeeping(db),
  };
}
