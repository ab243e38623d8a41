import { deleteAnswers, pruneAnswers } from './http/idempotency.ts';
import { pruneRateWindows } from './http/rate-limit.ts';
import { pruneGivenUpJobs } from './jobs/queue.ts';
import { anHour, type Registration } from './registration.ts';

/** Objects that are deleted with another one, which they name. */
const deletedWith: Readonly<Record<string, readonly string[]>> = {
  deployment: ['scenario', 'test_run', 'replay', 'function_endpoint'],
  notebook: ['document'],
};

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
  objectErasure: [
    async (tx, tenant, { object, id }) => {
      await deleteAnswers(tx, tenant, { named: [], shownIds: [id] });
      const objects = deletedWith[object];
      if (objects) await deleteAnswers(tx, tenant, { named: [id], objects });
    },
  ],
  fileErasure: [(tx, tenant, files) => deleteAnswers(tx, tenant, { named: [], shownIds: files.map(({ id }) => id) })],
  expiry: [
    { days: 1, prune: pruneAnswers },
    { days: anHour, prune: pruneRateWindows },
    { days: 14, prune: pruneGivenUpJobs },
  ],
});
