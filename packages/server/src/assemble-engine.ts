import { createModels } from '@vestra/models/models';
import type { Logger } from 'pino';
import { createDocumentReader } from './adapters/documents/reader.ts';
import type { Embeddings } from './adapters/embeddings/embeddings.ts';
import type { FileStore } from './adapters/files/file-store.ts';
import { createSchemas } from './adapters/json-schema/schemas.ts';
import { createMcpClient } from './adapters/mcp-client/mcp-client.ts';
import { createTraceExporter } from './adapters/otlp/trace-exporter.ts';
import type { Outbound } from './adapters/outbound/fetcher.ts';
import { ownPolicyHookSecret } from './adapters/policy-hook/own-secret.ts';
import { createPolicyHook } from './adapters/policy-hook/policy-hook.ts';
import type { Vault } from './adapters/secrets/vault.ts';
import type { AppParts } from './assemble-apps.ts';
import type { Tenant } from './caller.ts';
import type { Config } from './config.ts';
import type { Bell } from './db/bell.ts';
import type { Database } from './db/pool.ts';
import { createRowCache } from './db/row-cache.ts';
import { createSharedWrites } from './db/shared-writes.ts';
import { createSignIns, isConnected } from './domains/apps/api.ts';
import { advanceBatch, advanceOwnAgent, createAdvancer, watchItems } from './domains/batches/api.ts';
import { type Desks, workBrowsers } from './domains/browser/api.ts';
import type { ComputerWork } from './domains/computers/api.ts';
import { createEngine, createRunner, type Engine, readRunTrace } from './domains/engine/api.ts';
import { createFollowers, type Followers } from './domains/events/api.ts';
import { createMoneyLine } from './domains/ledger/api.ts';
import { createServerTools } from './domains/mcp-servers/api.ts';
import { createCustomerMemory, createMemory } from './domains/memory/api.ts';
import { createPassageMeaning, searchNotebooks } from './domains/notebooks/api.ts';
import { routineTools } from './domains/routines/api.ts';
import { createTraceTargets } from './domains/traces/api.ts';
import { timezoneOf } from './domains/users/api.ts';
import type { JobSender } from './jobs/catalog.ts';
import { version } from './version.ts';

/** Of the runs at once one org has three quarters at most and one user one, so that there is room for others. */
const mostRunsAtOnce = { capacity: 256, ofOrg: 192, ofUser: 64 };

type Parts = {
  config: Config;
  db: Database;
  bell: Bell;
  jobs: JobSender;
  log: Logger;
  vault: Vault;
  signingSecret: Buffer;
  files: FileStore;
  outbound: Outbound;
  embeddings: Embeddings;
  apps: AppParts;
  computerWork: ComputerWork;
  desks: Desks;
};

/** Of rows that need not be read again: some kilobytes each. */
const mostSeen = 2_000;

/** The engine with everything that the house plugs into it. */
export function assembleEngine(parts: Parts): {
  engine: Engine;
  followers: Followers;
  stop: (options: { graceMs: number }) => Promise<void>;
} {
  const { config, db, bell, jobs, log, vault, signingSecret, files, outbound, embeddings, computerWork } = parts;
  const { catalogue, signIn } = parts.apps;
  const models = createModels(config.models);
  const followers = createFollowers(db);
  // A process that only serves takes no run: its messages become jobs of the workers.
  const shares = config.role === 'api' ? { ...mostRunsAtOnce, capacity: 0 } : mostRunsAtOnce;
  const runner = createRunner({ db, log, settings: { ...shares, ...config.runs } });
  bell.on('conversation', followers.wake);
  bell.on('run', (runId) => {
    if (runId === null) void runner.renew();
    else runner.end(runId);
  });

  const targetOf = createTraceTargets({ db, vault });
  const exporter = createTraceExporter({ outbound, targetOf, log });
  const tellTrace = async (tenant: Tenant, run: { kind: 'turn' | 'task'; id: string }) => {
    if ((await targetOf(tenant)) === null) return;
    const trace = await readRunTrace({ db, models }, tenant, run);
    if (trace) exporter.record(tenant, trace);
  };
  const meaning = createPassageMeaning({ db, embeddings, log });
  const advancer = createAdvancer({
    advance: (batch) => advanceBatch(engine, batch),
    advanceOwnAgent: (batch) => advanceOwnAgent(engine, batch),
    handOver: async ({ orgId, mode, batchId }) => {
      await jobs.send(db, 'batch.advance', { org_id: orgId, mode, batch_id: batchId });
    },
    log,
  });
  const seenConversations: Engine['seen']['conversations'] = createRowCache({ most: mostSeen });
  const engine: Engine = createEngine({
    db,
    writes: createSharedWrites(db),
    seen: {
      conversations: seenConversations,
      users: createRowCache({ most: mostSeen }),
      deployments: createRowCache({ most: mostSeen }),
    },
    jobs,
    log,
    announcer: { followers, seen: seenConversations, ring: bell.ring },
    runner,
    money: createMoneyLine({ db, bell, log }),
    models,
    schemas: createSchemas(),
    serverTools: createServerTools({
      db,
      vault,
      client: createMcpClient({ fetch: outbound.webFetch, version }),
      signIns: createSignIns({ db, vault, catalogue, signIn }),
    }),
    apps: {
      ...catalogue,
      isConnected: async (tx, tenant, { userId, app }) => {
        const serverUrl = catalogue.find(app)?.url;
        return serverUrl !== undefined && isConnected(tx, tenant, { userId, app, serverUrl });
      },
    },
    hook: createPolicyHook({
      url: config.policyHook.url,
      secret: config.policyHook.secret?.() ?? ownPolicyHookSecret(signingSecret),
    }),
    memory: createMemory({ db, embeddings, log, customer: createCustomerMemory({ outbound, signingSecret }) }),
    search: (reader) => searchNotebooks(db, reader, meaning),
    files,
    documents: createDocumentReader(),
    batchItems: watchItems(advancer),
    routineTools: routineTools({ db, timezoneOfUser: timezoneOf }),
    workComputers: computerWork.ofWork,
    workBrowsers: workBrowsers({ db, desks: parts.desks }),
    traces: {
      ended: (tenant, run) =>
        void tellTrace(tenant, run).catch((error: unknown) => log.warn({ err: error }, 'a trace was not told')),
    },
  });
  return {
    engine,
    followers,
    async stop(options) {
      await runner.stop(options);
      await advancer.stop();
      await exporter.stop();
    },
  };
}
