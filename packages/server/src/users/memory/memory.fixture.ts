import { type Mode, modes, type Scope } from '@vestra/contract/route';
import { startTestApp } from '../../../../../tests/support/app.ts';
import { orgRoutes } from '../../account/orgs/routes.ts';
import { updateSettings } from '../../account/orgs/store.ts';
import type { OrgSettings } from '../../account/tables.ts';
import type { Embeddings } from '../../agents/embeddings/embeddings.ts';
import { createOfflineEmbeddings } from '../../agents/embeddings/offline.ts';
import { createLog } from '../../main/log.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { createOutbound } from '../../platform/outbound/fetcher.ts';
import { createVault, openMasterKeys } from '../../platform/secrets/vault.ts';
import { enterUser } from '../users.ts';
import { createCustomerMemory } from './customer-memory.ts';
import { createMemory } from './memory.ts';
import { memoryRoutes } from './routes.ts';

export const signingSecret = Buffer.alloc(32, 7);

/** The memory routes and the memory of the agent, with the real encoder. `key` is the test key of an org. */
export async function startMemory({
  embeddings = createOfflineEmbeddings(),
  embedWithinMs = 60_000,
}: {
  embeddings?: Embeddings;
  embedWithinMs?: number;
} = {}) {
  const outbound = createOutbound({ allowPrivate: true });
  const log = createLog('silent');
  const vault = createVault(openMasterKeys({ dataDir: '', masterKey: 'ab'.repeat(32) }));
  const customer = createCustomerMemory({ outbound, signingSecret, vault, log });
  const app = await startTestApp(({ db }) => ({
    memory: memoryRoutes({ db, embeddings, log, customer, embedWithinMs }),
    orgs: orgRoutes({
      db,
      requestsPerMinute: 1200,
      balancesOf: async () => [0n],
      assertCallable: () => {},
      findDeployment: async (_tx, _orgId, reference) => reference,
      defaultGiven: async () => {},
      capsChange: async () => {},
      refuseModel: () => null,
      rollMemorySecret: customer.rollSecret,
      deploymentsOfCustomerMemory: async () => [],
    }),
  }));
  const { db } = app;
  return {
    ...app,
    embeddings,
    search: { db, embeddings, log },
    routes: memoryRoutes({ db, embeddings, log, customer }),
    memory: createMemory({ db, embeddings, log, customer, patienceMs: 60_000 }),
    async newOrg(
      settings: Partial<Pick<OrgSettings, 'memory_mode' | 'memory_endpoint' | 'require_user'>> = {},
      scopes: Scope[] = ['runtime'],
    ) {
      const org = await app.newOrg(scopes);
      for (const mode of modes) await updateSettings(db, { orgId: org.id, mode }, settings);
      return { ...org, key: org.testKey };
    },
    newUser: (orgId: string, userId: string, mode: Mode = 'test') =>
      transaction(db, (tx) => enterUser(tx, { orgId, mode }, userId)),
    async stop() {
      await app.stop();
      await outbound.close();
      if ('close' in embeddings) await (embeddings as ReturnType<typeof createOfflineEmbeddings>).close();
    },
  };
}

/** Understands no text, so that searches use words alone. */
export const noEmbeddings: Embeddings = {
  model: 'none',
  dimensions: 0,
  languages: [],
  understands: () => false,
  pieces: (text) => [text],
  embed: () => Promise.reject(new Error('Nothing is embedded here.')),
  leastSimilarity: async () => 0,
};
