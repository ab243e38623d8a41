import { createFollowers, type Followers } from '../../account/events/followers.ts';
import { createTraceExporter } from '../../account/telemetry/trace-exporter.ts';
import { createTraceTargets } from '../../account/telemetry/trace-targets.ts';
import { createPassageMeaning, searchNotebooks } from '../../agents/notebooks/index.ts';
import { createServerTools } from '../../agents/tool-servers/index.ts';
import { advanceBatch, advanceOwnAgent } from '../../automation/batches/advance.ts';
import { createAdvancer, watchItems } from '../../automation/batches/advancer.ts';
import { routineTools } from '../../automation/routines/agent-tools.ts';
import { createHoldQueue } from '../../billing/hold-queue.ts';
import type { AgentComputers } from '../../computers/agent-computers.ts';
import { agentBrowsers } from '../../computers/browser/agent-tools.ts';
import type { Engine } from '../../engine/index.ts';
import { readRunTrace } from '../../engine/records/trace.ts';
import { createEngine } from '../../engine/runs/engine.ts';
import { createPolicyHook, ownPolicyHookSecret } from '../../engine/runs/policy-hook.ts';
import { fitPicture } from '../../engine/tools/pictures.ts';
import { createRunner } from '../../engine/turns/runner.ts';
import { createConnectableApps } from '../../integrations/apps/catalogue.ts';
import { createSignIns } from '../../integrations/apps/sign-ins.ts';
import { isConnected } from '../../integrations/apps/store.ts';
import type { Tenant } from '../../platform/caller.ts';
import { createSharedWrites } from '../../platform/db/group-commit.ts';
import { onNewPrimary } from '../../platform/db/pool.ts';
import { createRowCache } from '../../platform/db/row-cache.ts';
import { createLate } from '../../platform/lazy-ref.ts';
import { createMemory } from '../../users/memory/memory.ts';
import type { Kernel } from '../kernel.ts';

/** Of the runs at once one org has three quarters at most and one user one, so that there is room for others. */
const mostRunsAtOnce = { capacity: 256, ofOrg: 192, ofUser: 64 };

/** Of rows that need not be read again: some kilobytes each. */
const mostSeen = 2_000;

type WorkBrowserParts = Omit<Parameters<typeof agentBrowsers>[0], 'db'>;

/** The engine with everything that the house plugs into it. */
export function assembleEngine(
  kernel: Kernel,
  { computerWork, browsers }: { computerWork: AgentComputers; browsers: WorkBrowserParts },
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
  const followers = createFollowers(db, { onDelivered: (lagMs) => metrics.eventFollowed(lagMs / 1000) });
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
    money: createHoldQueue({ db, processNews, log }),
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
    workBrowsers: agentBrowsers({ db, ...browsers }),
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
