import { createTraceExporter } from '../../adapters/otlp/trace-exporter.ts';
import { fitPicture } from '../../adapters/pictures/fit-picture.ts';
import { ownPolicyHookSecret } from '../../adapters/policy-hook/own-secret.ts';
import { createPolicyHook } from '../../adapters/policy-hook/policy-hook.ts';
import type { Tenant } from '../../caller.ts';
import { onNewPrimary } from '../../db/pool.ts';
import { createRowCache } from '../../db/row-cache.ts';
import { createSharedWrites } from '../../db/shared-writes.ts';
import { createConnectableApps, createSignIns, isConnected } from '../../domains/apps/api.ts';
import { advanceBatch, advanceOwnAgent, createAdvancer, watchItems } from '../../domains/batches/api.ts';
import { workBrowsers } from '../../domains/browser/api.ts';
import type { ComputerWork } from '../../domains/computers/api.ts';
import type { Engine } from '../../domains/engine/api.ts';
import { readRunTrace } from '../../domains/engine/records/run-trace.ts';
import { createEngine } from '../../domains/engine/runs/create-engine.ts';
import { createRunner } from '../../domains/engine/turns/runner.ts';
import { createFollowers, type Followers } from '../../domains/events/api.ts';
import { createMoneyLine } from '../../domains/ledger/api.ts';
import { createServerTools } from '../../domains/mcp-servers/api.ts';
import { createMemory } from '../../domains/memory/api.ts';
import { createPassageMeaning, searchNotebooks } from '../../domains/notebooks/api.ts';
import { routineTools } from '../../domains/routines/api.ts';
import { createTraceTargets } from '../../domains/traces/api.ts';
import type { Kernel } from '../kernel.ts';
import { createLate } from '../late.ts';

/** Of the runs at once one org has three quarters at most and one user one, so that there is room for others. */
const mostRunsAtOnce = { capacity: 256, ofOrg: 192, ofUser: 64 };

/** Of rows that need not be read again: some kilobytes each. */
const mostSeen = 2_000;

type WorkBrowserParts = Omit<Parameters<typeof workBrowsers>[0], 'db'>;

/** The engine with everything that the house plugs into it. */
export function assembleEngine(
  kernel: Kernel,
  { computerWork, browsers }: { computerWork: ComputerWork; browsers: WorkBrowserParts },
): {
  engine: Engine;
  followers: Followers;
  stop: (options: { graceMs: number }) => Promise<void>;
} {
  const {
    config,
    db,
    processNews,
    jobs,
    log,
    vault,
    signingSecret,
    files,
    outbound,
    embeddings,
    comparesVectors,
    models,
  } = kernel;
  const { metrics } = kernel;
  const { catalogue, signIn } = kernel.apps;
  // A batch that goes on starts tasks of the engine, and the engine tells batches how their items end.
  const late = createLate<Engine>('the engine');
  const followers = createFollowers(db, { given: (lagMs) => metrics.eventFollowed(lagMs / 1000) });
  // A process that only serves takes no run: its messages become jobs of the workers.
  const shares = config.role === 'api' ? { ...mostRunsAtOnce, capacity: 0 } : mostRunsAtOnce;
  const runner = createRunner({ db, log, settings: { ...shares, ...config.runs } });
  processNews.on('conversation', followers.wake);
  processNews.on('run', (runId) => {
    if (runId === null) void runner.renew();
    else runner.end(runId);
  });

  const targetOf = createTraceTargets({ db, vault });
  const exporter = createTraceExporter({ outbound, targetOf, log });
  const tellTrace = async (tenant: Tenant, run: { kind: 'turn' | 'task'; id: string }) => {
    const target = await targetOf(tenant);
    if (target === null) return;
    const withContent = 'endpoint' in target && target.withContent === true;
    const trace = await readRunTrace({ db, models }, tenant, { ...run, withContent });
    if (trace) exporter.record(tenant, trace);
  };
  const meaning = createPassageMeaning({ db, embeddings, comparesVectors, log });
  const advancer = createAdvancer({
    advance: (batch) => advanceBatch(late.get(), batch),
    advanceOwnAgent: (batch) => advanceOwnAgent(late.get(), batch),
    handOver: async ({ orgId, mode, batchId }) => {
      await jobs.send(db, 'batch.advance', { org_id: orgId, mode, batch_id: batchId });
    },
    log,
  });
  const seen: Engine['seen'] = {
    conversations: createRowCache({ most: mostSeen }),
    users: createRowCache({ most: mostSeen }),
    deployments: createRowCache({ most: mostSeen }),
  };
  onNewPrimary(db, () => {
    for (const rows of Object.values(seen)) rows.clear();
  });
  const engine = createEngine({
    db,
    writes: createSharedWrites(db),
    seen,
    jobs,
    log,
    announcer: {
      followers: {
        publish(conversationId, entries) {
          metrics.turns.written(entries);
          followers.publish(conversationId, entries);
        },
      },
      seen: seen.conversations,
      notify: processNews.notify,
    },
    runner,
    isFollowed: followers.isFollowed,
    money: createMoneyLine({ db, processNews, log }),
    models,
    openSchemas: kernel.openSchemas,
    serverTools: createServerTools({
      db,
      vault,
      client: kernel.mcpClient,
      refuseAddress: kernel.refuseAddress,
      signIns: createSignIns({ db, vault, catalogue, signIn }),
    }),
    apps: {
      find: catalogue.find,
      connectable: createConnectableApps({ db, catalogue }),
      isConnected: async (tx, tenant, { userId, app }) => {
        const serverUrl = catalogue.find(app)?.url;
        return serverUrl !== undefined && isConnected(tx, tenant, { userId, app, serverUrl });
      },
    },
    hook: createPolicyHook({
      url: config.policyHook.url,
      secret: config.policyHook.secret?.() ?? ownPolicyHookSecret(signingSecret),
    }),
    memory: createMemory({
      db,
      embeddings,
      log,
      customer: kernel.customerMemory,
      // A provider is further away than a process on this machine.
      ...(config.embeddings && { patienceMs: 1000 }),
    }),
    search: (reader) => searchNotebooks(db, reader, meaning),
    files,
    documents: kernel.documents,
    fitPicture,
    batchItems: watchItems(advancer),
    routineTools: routineTools(db),
    workComputers: computerWork.ofWork,
    workBrowsers: workBrowsers({ db, ...browsers }),
    traces: {
      ended: (tenant, run) =>
        void tellTrace(tenant, run).catch((error: unknown) => log.warn({ err: error }, 'a trace was not told')),
    },
  });
  late.set(engine);
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
