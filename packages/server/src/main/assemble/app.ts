import { getConnInfo } from '@hono/node-server/conninfo';
import type { Mode } from '@vestra/contract/route';
import type { Context, Hono } from 'hono';
import { createIdentityProviders } from '../../adapters/identity-provider/identity-provider.ts';
import { assertCallable, refuseAddress } from '../../adapters/outbound/address.ts';
import { openZip } from '../../adapters/zip/open-zip.ts';
import { createWatchers } from '../../async/watchers.ts';
import type { Tenant } from '../../caller.ts';
import type { Transaction } from '../../db/pool.ts';
import { renderFile } from '../../domains/apply/file/render-file.ts';
import { changeLive } from '../../domains/apply/promotion/change-live.ts';
import { fixContent } from '../../domains/apply/promotion/content.ts';
import { upToDateVersion } from '../../domains/apply/promotion/up-to-date-version.ts';
import { faultsOfFile } from '../../domains/apply/read/check-file.ts';
import { manifestChecker } from '../../domains/apply/read/check-manifest.ts';
import { applyRoutes } from '../../domains/apply/routes.ts';
import { appRoutes, connectionRoutes } from '../../domains/apps/routes.ts';
import type { KeyUse } from '../../domains/audit/api.ts';
import { auditRoutes } from '../../domains/audit/routes.ts';
import { batchRoutes } from '../../domains/batches/routes.ts';
import type { Browsers } from '../../domains/browser/api.ts';
import { browserRoutes, screenRoutes } from '../../domains/browser/routes.ts';
import type { ComputerWork } from '../../domains/computers/api.ts';
import { computerRoutes } from '../../domains/computers/routes.ts';
import { conversationRoutes } from '../../domains/conversations/routes.ts';
import { deploymentNames, findDeployment, holdDeployment } from '../../domains/deployments/api.ts';
import { deploymentRoutes } from '../../domains/deployments/routes.ts';
import type { Engine } from '../../domains/engine/api.ts';
import { findConversation } from '../../domains/engine/records/conversations.ts';
import { isAttached } from '../../domains/engine/records/messages.ts';
import { findTask } from '../../domains/engine/records/tasks.ts';
import type { Followers } from '../../domains/events/api.ts';
import { eventRoutes } from '../../domains/events/routes.ts';
import { feedbackRoutes } from '../../domains/feedback/routes.ts';
import { createDownloadLinks } from '../../domains/files/api.ts';
import { downloadSource } from '../../domains/files/download.ts';
import { fileRoutes } from '../../domains/files/routes.ts';
import { functionRoutes } from '../../domains/functions/routes.ts';
import type { Health } from '../../domains/health/health.ts';
import { healthRoutes } from '../../domains/health/routes.ts';
import { interactionRoutes } from '../../domains/interactions/routes.ts';
import type { InterviewPorts } from '../../domains/interview/ports.ts';
import { answeringInterviews, interviewRoutes } from '../../domains/interview/routes.ts';
import { createKeyIdentity } from '../../domains/keys/api.ts';
import { keyRoutes } from '../../domains/keys/routes.ts';
import { readBalances } from '../../domains/ledger/api.ts';
import { usageRoutes } from '../../domains/ledger/routes.ts';
import { createGrantIdentity, endGrantsOf } from '../../domains/mcp-grants/api.ts';
import { oauthRoutes } from '../../domains/mcp-grants/oauth-routes.ts';
import { mcpGrantRoutes } from '../../domains/mcp-grants/routes.ts';
import { mcpServerRoutes } from '../../domains/mcp-servers/routes.ts';
import { createConsoleIdentity } from '../../domains/members/api.ts';
import { identityProviderRoutes, signInRoutes } from '../../domains/members/identity/routes.ts';
import { passkeyRoutes } from '../../domains/members/passkeys/routes.ts';
import { accountRoutes, consoleRoutes, memberRoutes } from '../../domains/members/routes.ts';
import { memoryRoutes } from '../../domains/memory/routes.ts';
import { modelRoutes } from '../../domains/models/routes.ts';
import { notebookRoutes } from '../../domains/notebooks/routes.ts';
import { isEmbedOrigin } from '../../domains/orgs/api.ts';
import { limitRoutes, meRoutes, orgRoutes } from '../../domains/orgs/routes.ts';
import { replayRoutes } from '../../domains/replays/routes.ts';
import { moveRoutinesToTimezone } from '../../domains/routines/api.ts';
import { routineRoutes } from '../../domains/routines/routes.ts';
import { routineRunRoutes } from '../../domains/routines/run-routes.ts';
import { draftRoutes, scenarioRoutes, talkRoutes } from '../../domains/scenarios/routes.ts';
import { createAnswerSeal } from '../../domains/secrets/api.ts';
import { secretRoutes } from '../../domains/secrets/routes.ts';
import {
  createScreenCredentials,
  createSessionIdentity,
  embedOriginsOf,
  embedOriginsOfToken,
  liveSessionsOf,
} from '../../domains/sessions/api.ts';
import { screenStream, sessionRoutes } from '../../domains/sessions/routes.ts';
import { skillRoutes } from '../../domains/skills/routes.ts';
import { taskRoutes } from '../../domains/tasks/routes.ts';
import { latestRuns } from '../../domains/test-runs/api.ts';
import { testRunRoutes } from '../../domains/test-runs/routes.ts';
import { userRoutes } from '../../domains/users/routes.ts';
import type { VoiceCalls } from '../../domains/voice/api.ts';
import { deliveryRoutes } from '../../domains/webhooks/delivery-routes.ts';
import { webhookRoutes } from '../../domains/webhooks/routes.ts';
import type { AnswerRequest } from '../../edges/own-client.ts';
import { whenFirstCalled } from '../../edges/when-first-called.ts';
import { createApp } from '../../http/app.ts';
import { clientAddress } from '../../http/client-address.ts';
import { createCursors } from '../../http/cursor.ts';
import { createIdempotency } from '../../http/idempotency.ts';
import { createRateLimiter } from '../../http/rate-limit.ts';
import type { Streams } from '../../http/streams.ts';
import { authorizationDocuments, resourceMetadataOf } from '../../pages/authorization-documents.ts';
import { missingPages } from '../../pages/built-pages.ts';
import { clientDocumentPage, clientDocumentPath } from '../../pages/client-document.ts';
import { consolePages } from '../../pages/console.ts';
import { downloadPages } from '../../pages/downloads.ts';
import { embedScript } from '../../pages/embed.ts';
import { pagesForPrograms } from '../../pages/for-programs.ts';
import { frontPages } from '../../pages/front.ts';
import { guidePages } from '../../pages/guide.ts';
import { referencePages } from '../../pages/reference.ts';
import { screenPages } from '../../pages/screen.ts';
import { sessionPages } from '../../pages/session.ts';
import type { Kernel } from '../kernel.ts';
import { version } from '../version.ts';

type Parts = {
  engine: Engine;
  followers: Followers;
  computerWork: ComputerWork;
  browsers: Browsers;
  streams: Streams;
  voice: VoiceCalls;
  keyUse: KeyUse;
  /** Answers a request over no socket, as this app does. */
  answer: AnswerRequest;
  health: () => Promise<Health>;
  operatorPages: (app: Hono) => void;
};

/** Every domain with what it needs, behind one app. */
export function assembleApp(kernel: Kernel, parts: Parts): Hono {
  const {
    config,
    db,
    jobs,
    log,
    vault,
    signingSecret,
    files,
    outbound,
    embeddings,
    processNews,
    apps,
    customerMemory,
  } = kernel;
  const { engine, computerWork, browsers, followers, streams, voice, keyUse, answer, health, operatorPages } = parts;
  const { screens } = browsers;
  const { catalogue } = kernel.models;
  const publicUrl = kernel.publicUrl.get();
  const watchers = createWatchers();
  processNews.on('test_run', watchers.wake);
  const callWatchers = createWatchers();
  processNews.on('tool_call', callWatchers.wake);
  const { requestsPerMinute } = config;
  const keyIdentity = createKeyIdentity(db);
  const rateLimiter = createRateLimiter(db);
  const allowPrivate = config.allowPrivateAddresses;
  const callable = (address: string, param: string) => assertCallable(address, param, { allowPrivate });
  const sessionIdentity = createSessionIdentity(db);
  const credentials = createScreenCredentials(signingSecret);
  const links = createDownloadLinks(signingSecret, publicUrl);
  const linkTo = (fileId: string) => links.make(fileId).url;
  const interviews: InterviewPorts = {
    engine,
    faultsOf: (caller, body) => faultsOfFile(db, kernel, { caller, body }),
    render: async (file) => (await import('../../domains/apply/file/render-yaml.ts')).renderYaml(file),
  };
  const members = { db, rateLimiter, publicUrl };
  const connecting = {
    ...apps,
    db,
    vault,
    jobs,
    mcpClient: kernel.mcpClient,
    redirectUri: `${publicUrl}/v1/connections/callback`,
    // Nobody fetches a document over plain http, or from a machine that only it can reach.
    clientDocument: publicUrl.startsWith('https://') ? `${publicUrl}${clientDocumentPath}` : null,
  };
  const identityProviders = createIdentityProviders({
    outbound,
    refuseAddress: (address: string) => refuseAddress(address, { allowPrivate }),
  });
  const signIns = { ...members, vault, identityProviders, assertCallable: callable };
  const orgs = {
    db,
    requestsPerMinute,
    balancesOf: readBalances,
    findDeployment: async (tx: Transaction, orgId: string, reference: string) =>
      (await holdDeployment(tx, orgId, reference, 'default_deployment')).id,
    assertCallable: callable,
    rollMemorySecret: customerMemory.rollSecret,
    refuseModel: (mode: Mode, id: string) => {
      const model = catalogue.find(mode, id);
      if (!model) return `GET /v1/models lists no model \`${id}\`.`;
      return model.isRefused || model.isRetired ? model.unavailable_reason : null;
    },
  };
  const usage = {
    db,
    deploymentIdOf: async ({ orgId }: Tenant, reference: string) =>
      (await findDeployment(db, orgId, reference))?.deployment.id ?? null,
    deploymentNames: ({ orgId }: Tenant, ids: readonly string[]) => deploymentNames(db, orgId, ids),
    exists: async (tenant: Tenant, work: { taskId: string } | { conversationId: string }) =>
      'taskId' in work
        ? (await findTask(db, tenant, work.taskId)) !== undefined
        : (await findConversation(db, tenant, work.conversationId)) !== undefined,
  };
  const issuer = publicUrl.replace(/\/+$/, '');
  const authorization = { issuer, resource: `${issuer}/v1/mcp` };
  const granting = {
    ...authorization,
    db,
    outbound,
    rateLimiter,
    ended: (grantId: string) => processNews.notify('credential', grantId),
  };
  const mcpClients = { endAll: endGrantsOf, ended: granting.ended };
  const edges = { answer, hold: streams.open, log };
  const openaiRoutes = async () => {
    const { openaiEndpoint } = await import('../../edges/openai/endpoint.ts');
    return openaiEndpoint({ ...edges, engine });
  };
  return createApp({
    log,
    // What an edge asks of a route comes over no socket; the edge knows whose address it is.
    addressOf: (context: Context) =>
      context.env.callerAddress ??
      clientAddress(
        getConnInfo(context).remote.address ?? '',
        context.req.header('x-forwarded-for') ?? null,
        config.isTrustedProxy,
      ),
    isFromEdge: (context: Context) => context.env.callerAddress !== undefined,
    resourceMetadata: resourceMetadataOf(authorization),
    isLeaving: engine.runner.isLeaving,
    answered: kernel.metrics.requestAnswered,
    pages: (app) => {
      operatorPages(app);
      frontPages({ version })(app);
      authorizationDocuments(authorization)(app);
      clientDocumentPage({ publicUrl, redirectUri: connecting.redirectUri })(app);
      const missing = missingPages();
      if (missing) log.warn(missing);
      referencePages({ version, url: publicUrl })(app);
      pagesForPrograms({ version, url: publicUrl })(app);
      guidePages()(app);
      downloadPages({ isGood: links.isGood, find: downloadSource(db, files, { isDirect: config.files.isDirect }) })(
        app,
      );
      embedScript()(app);
      consolePages()(app);
      const originsOf = (sessionId: string) => embedOriginsOf(db, sessionId);
      sessionPages({ embedOriginsOf: originsOf })(app);
      const stream = screenStream({ db, screens, credentials, streams, callerOf: sessionIdentity.ofSessionId });
      screenPages(stream, originsOf)(app);
    },
    path: {
      db,
      writes: engine.writes,
      requestsPerMinute,
      rateLimiter,
      cursors: createCursors(signingSecret),
      embedOrigins: {
        isListed: (origin) => isEmbedOrigin(db, origin),
        ofToken: (token) => embedOriginsOfToken(db, token),
      },
      idempotency: createIdempotency(db, createAnswerSeal(vault)),
      identities: {
        ...keyIdentity,
        ...sessionIdentity,
        ...createGrantIdentity(db),
        ...createConsoleIdentity(db, publicUrl),
      },
      keyUsed: keyUse.used,
    },
    handlers: {
      deployments: {
        ...deploymentRoutes({
          db,
          checkManifest: manifestChecker(kernel),
          fixContent,
          renderFile,
          latestTestRuns: latestRuns,
        }),
        ...applyRoutes(kernel),
        ...interviewRoutes(interviews),
      },
      scenarios: { ...scenarioRoutes({ db }), ...draftRoutes({ engine }) },
      testRuns: testRunRoutes({
        db,
        engine,
        jobs,
        upToDateVersion: (tx, of) => upToDateVersion(tx, kernel, of),
        watchers,
        streams,
      }),
      replays: replayRoutes({ engine, jobs }),
      notebooks: notebookRoutes({ db, reader: kernel.documents, changeLive, jobs, embeddings, search: engine.search }),
      skills: skillRoutes({ db, openZip, changeLive }),
      mcpServers: mcpServerRoutes({
        db,
        vault,
        client: kernel.mcpClient,
        assertCallable: callable,
        changeLive,
      }),
      webhooks: {
        ...webhookRoutes({ db, vault, assertCallable: callable }),
        ...deliveryRoutes({ db, vault, outbound }),
      },
      events: eventRoutes({ db }),
      routines: {
        ...routineRoutes({ db, publicUrl, announcer: engine.announcer }),
        ...routineRunRoutes({ engine, publicUrl: () => publicUrl }),
      },
      memory: memoryRoutes({ db, embeddings, log, customer: customerMemory }),
      files: fileRoutes({
        db,
        store: files,
        links,
        isAttached: (conversationId, fileId) => isAttached(db, conversationId, fileId),
      }),
      conversations: {
        ...answeringInterviews(interviews, conversationRoutes({ engine, followers, streams, linkTo })),
        ...talkRoutes({ engine }),
      },
      feedback: feedbackRoutes({ db }),
      interactions: interactionRoutes({ engine }),
      functions: functionRoutes({ engine, vault, streams, watchers: callWatchers, assertCallable: callable }),
      tasks: taskRoutes({ engine, linkTo }),
      batches: batchRoutes({ engine }),
      me: meRoutes(orgs),
      orgs: orgRoutes(orgs),
      limits: limitRoutes(orgs),
      keys: keyRoutes({ db, identity: keyIdentity, ended: (keyId) => processNews.notify('credential', keyId) }),
      mcpGrants: mcpGrantRoutes(granting),
      oauth: oauthRoutes(granting),
      members: memberRoutes({ ...members, mcpClients }),
      consoleAccess: consoleRoutes({ ...members, mcpClients }),
      consoleAccount: accountRoutes(members),
      consoleSignIn: signInRoutes(signIns),
      passkeys: passkeyRoutes(members),
      identityProvider: identityProviderRoutes(signIns),
      secrets: secretRoutes({ db, vault }),
      users: {
        ...userRoutes({
          db,
          jobs,
          shutOut: async (tx, tenant, userId) => {
            const sessionIds = await liveSessionsOf(tx, tenant, userId);
            return () => {
              for (const id of sessionIds) processNews.notify('credential', id);
            };
          },
          timezoneGiven: moveRoutinesToTimezone,
        }),
        ...computerRoutes({ db, jobs, work: computerWork }),
        ...screenRoutes({ db, browsers }),
      },
      browser: browserRoutes({ db, browsers, streams }),
      apps: appRoutes(connecting),
      connections: connectionRoutes(connecting),
      sessions: sessionRoutes({
        engine,
        publicUrl,
        screens,
        credentials,
        voice,
        ended: (sessionId) => processNews.notify('credential', sessionId),
      }),
      usage: usageRoutes(usage),
      auditLog: auditRoutes({ db }),
      models: modelRoutes({ catalogue }),
      health: healthRoutes({ health, version }),
      protocols: {
        mcp: whenFirstCalled(async () => {
          const { mcpEndpoint } = await import('../../edges/mcp/endpoint.ts');
          return mcpEndpoint({ ...edges, publicUrl, host: config.host, version });
        }),
        a2a: whenFirstCalled(async () => {
          const { a2aEndpoint } = await import('../../edges/a2a/endpoint.ts');
          return a2aEndpoint({ ...edges, engine, linkTo });
        }),
        agentCard: whenFirstCalled(async () => {
          const { agentCard } = await import('../../edges/a2a/agent-card.ts');
          return agentCard({ db, publicUrl });
        }),
      },
      openai: {
        chat: whenFirstCalled(async () => (await openaiRoutes()).chat),
        respond: whenFirstCalled(async () => (await openaiRoutes()).respond),
        response: whenFirstCalled(async () => (await openaiRoutes()).response),
        cancel: whenFirstCalled(async () => (await openaiRoutes()).cancel),
        createConversation: whenFirstCalled(async () => (await openaiRoutes()).createConversation),
        conversation: whenFirstCalled(async () => (await openaiRoutes()).conversation),
        models: whenFirstCalled(async () => (await openaiRoutes()).models),
        model: whenFirstCalled(async () => (await openaiRoutes()).model),
      },
      agUi: {
        run: whenFirstCalled(async () => {
          const { agUiEndpoint } = await import('../../edges/ag-ui/endpoint.ts');
          return agUiEndpoint({ ...edges, engine });
        }),
      },
    },
  });
}
