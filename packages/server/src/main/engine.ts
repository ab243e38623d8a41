import { createFollowers, type Followers } from '../account/events/followers.ts';
import { createDeltaWriter } from '../account/events/reply-deltas.ts';
import { withoutContent } from '../account/telemetry/run-trace.ts';
import { createTraceExporter, createTraceTargets } from '../account/telemetry/trace-exporter.ts';
import { createPassageMeaning, searchNotebooks } from '../agents/notebooks/index.ts';
import { createServerTools } from '../agents/tool-servers/index.ts';
import { advanceBatch, advanceOwnAgent, createAdvancer, watchItems } from '../automation/batches/advance.ts';
import { type BatchSharing, createBatchSharing } from '../automation/batches/slots.ts';
import { findReference } from '../automation/batches/store.ts';
import { routineTools } from '../automation/routines/agent-tools.ts';
import { createHoldQueue } from '../billing/hold-queue.ts';
import type { AgentComputers } from '../computers/agent-computers.ts';
import { agentBrowsers } from '../computers/browser/agent-tools.ts';
import type { Engine } from '../engine/index.ts';
import { existConversations } from '../engine/records/conversations.ts';
import { readRunTrace } from '../engine/records/trace.ts';
import { createEngine } from '../engine/runs/engine.ts';
import { createPolicyHook, ownPolicyHookSecret } from '../engine/runs/policy-hook.ts';
import { fitPicture } from '../engine/tools/pictures.ts';
import { createRunner } from '../engine/turns/runner.ts';
import { createConnectableApps } from '../integrations/apps/catalogue.ts';
import { createSignIns } from '../integrations/apps/sign-ins.ts';
import { isConnected } from '../integrations/apps/store.ts';
import type { Tenant } from '../platform/caller.ts';
import { batchReads } from '../platform/db/batch-concurrent-calls.ts';
import { createGroupCommit } from '../platform/db/group-commit.ts';
import { onNewPrimary } from '../platform/db/pool.ts';
import { createRowCache } from '../platform/db/row-cache.ts';
import { createLazyRef } from '../platform/kernel.ts';
import { createOutbound } from '../platform/outbound/fetcher.ts';
import { createMemory } from '../users/memory/memory.ts';
import type { Kernel } from './kernel.ts';

/** One org may use three quarters of the slots and one user a quarter, so that others can still start runs. */
const maxConcurrentRuns = { capacity: 256, ofOrg: 192, ofUser: 64 };

/** Rows in each cache, a few kilobytes per row. */
const maxCachedRows = 2_000;

type WorkBrowserParts = Omit<Parameters<typeof agentBrowsers>[0], 'db'>;

/** Creates the engine and connects it to the other modules. */
export function assembleEngine(
  kernel: Kernel,
  { computerWork, browsers }: { computerWork: AgentComputers; browsers: WorkBrowserParts },
): {
  engine: Engine;
  followers: Followers;
  sharing: BatchSharing;
  stop: (options: { graceMs: number }) => Promise<void>;
} {
  const { config, db, processNews, jobs, log, vault, signingSecret, files, embeddings, comparesVectors, models } =
    kernel;
  const { metrics } = kernel;
  const { catalogue, signIn } = kernel.apps;
  // Batches start tasks in the engine, and the engine reports finished items to batches. `late` breaks that circle.
  const late = createLazyRef<Engine>('the engine');
  const followers = createFollowers(db, {
    exists: batchReads((ids: string[]) => existConversations(db, ids)),
    onDelivered: (lagMs) => metrics.eventFollowed(lagMs / 1000),
  });
  // A process with the role `api` executes no runs. Workers execute its messages as jobs.
  const shares = config.role === 'api' ? { ...maxConcurrentRuns, capacity: 0 } : maxConcurrentRuns;
  const runner = createRunner({ db, log, settings: { ...shares, ...config.runs } });
  processNews.on('conversation', followers.wake);
  processNews.on('run', (runId) => {
    if (runId === null) void runner.renew();
    else runner.end(runId);
  });

  const traces = assembleTraces(kernel);
  const meaning = createPassageMeaning({ db, embeddings, comparesVectors, log });
  const advancer = createAdvancer({
    advance: (batch, { takesRest }) => advanceBatch(late.get(), batch, takesRest ? null : sharing),
    advanceOwnAgent: (batch) => advanceOwnAgent(late.get(), batch, sharing),
    handOver: async ({ orgId, mode, batchId }) => {
      await jobs.send(db, 'batch.advance', { org_id: orgId, mode, batch_id: batchId });
    },
    log,
  });
  const sharing = createBatchSharing({
    workers: processNews.countWorkers,
    offer: (batchId) => processNews.notify('batch', batchId),
    takeRest: (batch) => advancer.poke({ ...batch, isOfOwnAgent: false, takesRest: true }),
  });
  processNews.on('batch', (batchId) => {
    if (batchId === null || config.role === 'api') return;
    void findReference(db, batchId).then(
      (batch) => batch && advancer.poke({ ...batch, isOfOwnAgent: false }),
      (error: unknown) => log.warn({ err: error }, 'could not take a share of a batch; the sweep retries it'),
    );
  });
  const seen: Engine['seen'] = {
    conversations: createRowCache({ most: maxCachedRows }),
    users: createRowCache({ most: maxCachedRows }),
    deployments: createRowCache({ most: maxCachedRows }),
  };
  onNewPrimary(db, () => {
    for (const rows of Object.values(seen)) rows.clear();
  });
  const writes = createGroupCommit(db);
  const engine = createEngine({
    db,
    writes,
    appendDelta: createDeltaWriter(db, writes),
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
    openTasks: config.openTasks,
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
      // A remote embeddings provider answers more slowly than the local encoder.
      ...(config.embeddings && { patienceMs: 1000 }),
    }),
    search: (reader) => searchNotebooks(db, reader, meaning),
    files,
    documents: kernel.documents,
    fitPicture,
    batchItems: watchItems(advancer),
    routineTools: routineTools(db),
    taskComputers: computerWork.forTask,
    taskBrowsers: agentBrowsers({ db, ...browsers }),
    traces: { ended: traces.ended },
  });
  late.set(engine);
  return {
    engine,
    followers,
    sharing,
    async stop(options) {
      sharing.stop();
      await runner.stop(options);
      await advancer.stop();
      await traces.stop();
    },
  };
}

/** Spans that may wait for the operator's collector, which gets the traces of all orgs. */
const maxSpansOfOperator = 100_000;

/** Sends the trace of each finished run to the collectors of its org and of the operator. */
function assembleTraces(kernel: Kernel): Engine['traces'] & { stop: () => Promise<void> } {
  const { db, vault, outbound, models, log } = kernel;
  const targetOf = createTraceTargets({ db, vault });
  const ofOrgs = createTraceExporter({ outbound, targetOf, log });
  const ofOperator = operatorExporter(kernel);

  async function send(tenant: Tenant, run: { kind: 'turn' | 'task'; id: string }): Promise<void> {
    const target = await targetOf(tenant);
    if (target === null && ofOperator === null) return;
    const withContent = target !== null && 'endpoint' in target && target.withContent === true;
    const trace = await readRunTrace({ db, models }, tenant, { ...run, withContent });
    if (!trace) return;
    if (target !== null) ofOrgs.record(tenant, trace);
    ofOperator?.record(tenant, withoutContent(trace));
  }

  return {
    ended: (tenant, run) =>
      void send(tenant, run).catch((error: unknown) => log.warn({ err: error }, 'a trace was not exported')),
    async stop() {
      await Promise.all([ofOrgs.stop(), ofOperator?.stop()]);
    },
  };
}

function operatorExporter({ config: { traces }, log }: Kernel) {
  const { endpoint, headers } = traces;
  if (endpoint === null) return null;
  const target = { endpoint, headers: headers() };
  // The operator chose this address, which may be in their own network.
  const outbound = createOutbound({ allowPrivate: true });
  const exporter = createTraceExporter({
    outbound,
    targetOf: async () => target,
    isShared: true,
    log: log.child({ collector: 'operator' }),
    settings: { maxSpansOfTenant: maxSpansOfOperator },
  });
  return {
    ...exporter,
    async stop() {
      await exporter.stop();
      await outbound.close();
    },
  };
}
