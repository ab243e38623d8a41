import { deleteAnswers, pruneAnswers } from './http/idempotency.ts';
import { pruneRateWindows } from './http/rate-limit.ts';
import { pruneGivenUpJobs } from './jobs/queue.ts';
import { anHour, type Registration } from './registration.ts';

export const register = (): Registration => ({
  conversationErasure: [(tx, tenant, ids) => deleteAnswers(tx, tenant, { named: ids })],
  expiry: [
    { days: 1, prune: pruneAnswers },
    { days: anHour, prune: pruneRateWindows },
    { days: 14, prune: pruneGivenUpJobs },
  ],
});
