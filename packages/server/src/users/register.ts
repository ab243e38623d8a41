import type { Embeddings } from '../agents/index.ts';
import { deleteAnswers } from '../platform/http/idempotency.ts';
import type { Kernel } from '../platform/kernel.ts';
import type { Registration } from '../platform/registration.ts';
import { unfinishedErasures } from './erasure.ts';
import type { CustomerMemory } from './memory/customer-memory.ts';
import { type MemoryDependencies, memoryRoutes } from './memory/routes.ts';
import { eraseMemoriesOf } from './memory/store.ts';
import { type UserDependencies, userRoutes } from './routes.ts';

/** Called by changes of a user, in the transaction of the change. */
export type UserPorts = Pick<UserDependencies, 'shutOut' | 'timezoneGiven' | 'defaultGiven' | 'capsChange'> & {
  memoriesForgotten: NonNullable<MemoryDependencies['forgotten']>;
};

export const register = (
  { db, jobs, log, embeddings, customerMemory }: Kernel & { embeddings: Embeddings; customerMemory: CustomerMemory },
  { memoriesForgotten, ...ports }: UserPorts,
): Registration => ({
  routes: () => ({
    users: userRoutes({ db, jobs, ...ports }),
    memory: memoryRoutes({ db, embeddings, log, customer: customerMemory, forgotten: memoriesForgotten }),
  }),
  jobs: {
    'memory.embed': async (_payload, { signal }) =>
      (await import('./memory/embed-facts.ts')).embedFacts({ db, embeddings, log }, signal),
  },
  sweeps: [unfinishedErasures],
  erasure: [
    async (tx, tenant, userId) => {
      // A stored answer that shows a fact does not name its user.
      const shownIds = await eraseMemoriesOf(tx, tenant, userId);
      await deleteAnswers(tx, tenant, { named: [userId], shownIds });
    },
  ],
});
