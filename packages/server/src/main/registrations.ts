import type { Hono } from 'hono';
import { emit } from '../account/events/emit.ts';
import type { Followers } from '../account/events/followers.ts';
import { register as registerAccount } from '../account/register.ts';
import {
  deploymentNames,
  deploymentsOfCustomerMemory,
  findDeployment,
  holdDeployment,
} from '../agents/deployments/index.ts';
import { indexStateOf } from '../agents/notebooks/index.ts';
import { register as registerAgents } from '../agents/register.ts';
import type { BatchSharing } from '../automation/batches/slots.ts';
import { register as registerAutomation } from '../automation/register.ts';
import { changeArchivedRoutines, moveRoutinesToTimezone } from '../automation/routines/routine-changes.ts';
import { register as registerBilling } from '../billing/register.ts';
import { emitBeforeCapChange, readBalances } from '../billing/roll-up-balances.ts';
import type { AgentComputers } from '../computers/agent-computers.ts';
import type { RemoteBrowsers } from '../computers/browser/remote-browser.ts';
import { register as registerComputers } from '../computers/register.ts';
import type { Computers } from '../computers/running-computer.ts';
import type { HandleRequest } from '../edges/api-client.ts';
import { register as registerEdges } from '../edges/register.ts';
import { announceDeletion } from '../engine/conversations/delete.ts';
import { findConversation } from '../engine/conversations/index.ts';
import { downloadSource } from '../engine/files/content.ts';
import { createDownloadLinks, markContentUnused } from '../engine/files/index.ts';
import type { Engine } from '../engine/index.ts';
import { conversationIdsOf, openConversationsOfUser } from '../engine/records/conversations.ts';
import { emptyMemoryCalls } from '../engine/records/redaction.ts';
import { register as registerEngine } from '../engine/register.ts';
import { findTask } from '../engine/tasks/index.ts';
import { stopConversations, userDeleted } from '../engine/turns/stop.ts';
import { register as registerEvaluation } from '../evaluation/register.ts';
import { latestRuns } from '../evaluation/test-runs/store.ts';
import { register as registerIntegrations } from '../integrations/register.ts';
import { screenStream } from '../integrations/sessions/routes.ts';
import { createScreenCredentials, createSessionIdentity } from '../integrations/sessions/sessions.ts';
import { embedOriginsOf, liveSessionsOf } from '../integrations/sessions/store.ts';
import { clientDocumentPath } from '../pages/authorization-documents.ts';
import { register as registerPages } from '../pages/register.ts';
import { extendPartitions } from '../platform/db/partitions.ts';
import type { catalog } from '../platform/jobs/catalog.ts';
import { pruneOld } from '../platform/jobs/retention.ts';
import type { SweepSource } from '../platform/jobs/sweep.ts';
import type { JobHandlers } from '../platform/jobs/worker.ts';
import { register as registerPlatform } from '../platform/register.ts';
import type { Registration } from '../platform/registration.ts';
import { version } from '../platform/version.ts';
import { fileScenariosOf, renderFile } from '../release/apply/manifest.ts';
import { fixContent } from '../release/promotion/content.ts';
import { promoteAfterTests, upToDateVersion } from '../release/promotion/promote.ts';
import { republishLiveVersions } from '../release/promotion/promotion.ts';
import { register as registerRelease } from '../release/register.ts';
import { eraseUser } from '../users/erasure.ts';
import { register as registerUsers } from '../users/register.ts';
import { capsOf } from '../users/store.ts';
import type { VoiceCalls } from '../voice/calls.ts';
import { type Health, healthRoutes } from './health-and-metrics.ts';
import type { Kernel } from './kernel.ts';

export type ServerParts = {
  engine: Engine;
  followers: Followers;
  sharing: BatchSharing;
  computers: Pick<Computers, 'erase'>;
  computerWork: AgentComputers;
  browsers: RemoteBrowsers;
  voice: () => VoiceCalls;
  /** Handles a request without a socket. */
  answer: HandleRequest;
  health: () => Promise<Health>;
  operatorPages: (app: Hono) => void;
};

/** The modules of the server, lower ones first. */
export function registrationsOf(kernel: Kernel, parts: ServerParts): Registration[] {
  const { db, processNews, customerMemory } = kernel;
  const { engine } = parts;
  const alerts = { emit, capsOfUsers: capsOf };
  const conversationErasure = () => modules.toReversed().flatMap((module) => module.conversationErasure ?? []);
  const taskErasure = () => modules.toReversed().flatMap((module) => module.taskErasure ?? []);
  const fileErasure = () => modules.toReversed().flatMap((module) => module.fileErasure ?? []);
  const modules: Registration[] = [
    registerPlatform(),
    registerAccount(kernel, {
      balancesOf: readBalances,
      findDeployment: async (tx, orgId, reference) =>
        (await holdDeployment(tx, orgId, reference, 'default_deployment')).id,
      rollMemorySecret: customerMemory.rollSecret,
      deploymentsOfCustomerMemory,
      capsChange: (tx, tenant) => emitBeforeCapChange(tx, tenant, null, alerts),
      defaultGiven: (tx, { orgId }) => changeArchivedRoutines(tx, orgId),
    }),
    registerBilling(kernel, {
      ...alerts,
      deploymentIdOf: async ({ orgId }, reference) =>
        (await findDeployment(db, orgId, reference))?.deployment.id ?? null,
      deploymentNames: ({ orgId }, ids) => deploymentNames(db, orgId, ids),
      exists: async (tenant, work) =>
        'taskId' in work
          ? (await findTask(db, tenant, work.taskId)) !== undefined
          : (await findConversation(db, tenant, work.conversationId)) !== undefined,
    }),
    registerAgents(kernel, {
      checkManifest: async (...of) => (await import('../release/apply/check-file.ts')).manifestChecker(kernel)(...of),
      fixContent,
      releaseContent: markContentUnused,
      renderFile,
      latestTestRuns: latestRuns,
      republishLive: republishLiveVersions,
      statusGiven: (tx, { org_id }) => changeArchivedRoutines(tx, org_id),
      search: engine.search,
    }),
    registerUsers(kernel, {
      shutOut: async (tx, tenant, userId) => {
        const sessionIds = await liveSessionsOf(tx, tenant, userId);
        return () => {
          for (const id of sessionIds) processNews.notify('credential', id);
        };
      },
      timezoneGiven: moveRoutinesToTimezone,
      defaultGiven: (tx, { orgId }, userId) => changeArchivedRoutines(tx, orgId, { userId }),
      capsChange: (tx, tenant, userId) => emitBeforeCapChange(tx, tenant, userId, alerts),
      memoriesForgotten: emptyMemoryCalls,
    }),
    registerEngine(kernel, {
      ...parts,
      conversationErasure,
      taskErasure,
      fileErasure,
      spendOfPeriod: async (...of) => (await import('../billing/spend-of-period.ts')).spendOfPeriod(...of),
    }),
    registerComputers(kernel, parts),
    registerAutomation(kernel, parts),
    registerIntegrations(kernel, {
      ...parts,
      apps: kernel.apps,
      mcpClient: kernel.mcpClient,
      screens: parts.browsers.screens,
      // Other servers fetch this document over https only.
      clientDocument: (publicUrl) => (publicUrl.startsWith('https://') ? `${publicUrl}${clientDocumentPath}` : null),
    }),
    registerEvaluation(kernel, {
      ...parts,
      promote: (tx, of) => promoteAfterTests(tx, kernel, of),
      indexStateOf: (reader) => indexStateOf(db, reader, kernel.embeddings.model),
      fileScenariosOf,
      upToDateVersion: async (tx, of) => {
        const saved = await upToDateVersion(tx, kernel, of);
        return { ...saved, fileScenarios: fileScenariosOf(saved.version) };
      },
    }),
    registerRelease(kernel, parts),
    registerEdges(kernel, {
      ...parts,
      linkTo: (publicUrl) => {
        const links = createDownloadLinks(kernel.signingSecret, publicUrl);
        return (fileId) => links.make(fileId).url;
      },
    }),
    {
      routes: () => ({ health: healthRoutes({ health: parts.health, version }) }),
      pages: () => [parts.operatorPages],
    },
    registerPages(kernel, {
      downloads: (publicUrl) => ({
        isGood: createDownloadLinks(kernel.signingSecret, publicUrl).isGood,
        find: downloadSource(db, kernel.files, { isDirect: kernel.config.files.isDirect }),
      }),
      embedOriginsOf: (sessionId) => embedOriginsOf(db, sessionId),
      screenStream: ({ streams }) =>
        screenStream({
          db,
          screens: parts.browsers.screens,
          credentials: createScreenCredentials(kernel.signingSecret),
          streams,
          callerOf: createSessionIdentity(db).ofSessionId,
        }),
    }),
  ];
  return [...modules, { jobs: { 'user.erase': userErasure(kernel, parts, modules) } }];

  function userErasure({ log }: Kernel, { computers }: ServerParts, registered: readonly Registration[]) {
    const steps = registered.toReversed().flatMap(({ erasure }) => erasure ?? []);
    return async ({ org_id, mode, user_id }: { org_id: string; mode: 'test' | 'live'; user_id: string }) => {
      const tenant = { orgId: org_id, mode };
      // Stop the user first: calls in flight are charged while the user exists, and no run wakes the computer again.
      await stopConversations(engine, await openConversationsOfUser(db, tenant, user_id), userDeleted);
      // This waits for programs to end, so it must not hold a transaction open.
      await computers.erase({ ...tenant, userId: user_id });
      const conversationIds = await conversationIdsOf(db, tenant, user_id);
      const elsewhere = () => customerMemory.forgetUser(db, tenant, user_id);
      await eraseUser({ db, log }, { steps, elsewhere }, tenant, user_id);
      announceDeletion(parts, conversationIds);
    };
  }
}

/** The jobs of all modules, and the two jobs that clean up for all of them. */
export function jobHandlers({ db }: Kernel, modules: readonly Registration[]): JobHandlers<typeof catalog> {
  const expiry = modules.flatMap((module) => module.expiry ?? []);
  const retention = modules.flatMap((module) => module.retention ?? []);
  return {
    ...Object.assign({}, ...modules.map(({ jobs }) => jobs)),
    housekeeping: async (_payload, { signal }) => {
      // Housekeeping runs once an hour, so it must remove all expired rows, without a limit.
      await pruneOld(db, expiry, { signal, maxBatches: Number.POSITIVE_INFINITY });
      for (const { housekeeping } of modules) await housekeeping?.(signal);
    },
    retention: (_payload, { signal }) => pruneOld(db, retention, { signal }),
  } satisfies Partial<JobHandlers<typeof catalog>> as JobHandlers<typeof catalog>;
}

export const sweepSources = (modules: readonly Registration[]): SweepSource[] =>
  modules.flatMap(({ sweeps }) => sweeps ?? []);

/** After a long stop, creates the missing partitions before the first request. The retention job does it later. */
export async function preparePartitions({ db, log }: Kernel, modules: readonly Registration[]): Promise<void> {
  const groups = modules.flatMap(({ retention }) => retention ?? []).flatMap(({ partitions }) => partitions ?? []);
  await extendPartitions(db, groups).catch((error: unknown) => {
    log.warn({ err: error }, 'could not create partitions, will retry');
  });
}
