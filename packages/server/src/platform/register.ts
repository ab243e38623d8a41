import { deleteAnswers, pruneAnswers } from './http/idempotency.ts';
import { pruneRateWindows } from './http/rate-limit.ts';
import { pruneGivenUpJobs } from './jobs/queue.ts';
import { anHour, type Registration } from './registration.ts';

export const register = (): Registration => ({
  conversationErasure: [(tx, tenant, ids) => deleteAnswers(tx, tenant, { named: ids })],
  // A repeated message must find its turn. Otherwise it would be sent again.
  taskErasure: [
    (tx, tenant, { taskId, messageIds }) =>
      deleteAnswers(tx, tenant, {
        named: [taskId, ...messageIds],
        objects: ['interaction', 'message_feedback', 'task'],
      }),
  ],
  fileErasure: [(tx, tenant, files) => deleteAnswers(tx, tenant, { named: [], shownIds: files.map(({ id }) => id) })],
  expiry: [
    { days: 1, prune: pruneAnswers },
    { days: anHour, prune: pruneRateWindows },
    { days: 14, prune: pruneGivenUpJobs },
  ],
});
