import { getConnInfo } from '@hono/node-server/conninfo';
import type { Mode } from '@vestra/contract/route';
import type { Context, Hono } from 'hono';
import type { KeyUse } from '../../account/audit/key-use.ts';
import { auditRoutes } from '../../account/audit/routes.ts';
import type { Followers } from '../../account/events/followers.ts';
import { eventRoutes } from '../../account/events/routes.ts';
import { createKeyIdentity } from '../../account/keys/identity.ts';
import { keyRoutes } from '../../account/keys/routes.ts';
import { createConsoleIdentity } from '../../account/members/console-identity.ts';
import { createIdentityProviders } from '../../account/members/identity/identity-provider.ts';
import { identityProviderRoutes, signInRoutes } from '../../account/members/identity/routes.ts';
import { passkeyRoutes } from '../../account/members/passkeys/routes.ts';
import { accountRoutes, consoleRoutes, memberRoutes } from '../../account/members/routes.ts';
import { endGrantsOf } from '../../account/oauth-server/end-grant.ts';
import { createGrantIdentity } from '../../account/oauth-server/identity.ts';
import { oauthRoutes } from '../../account/oauth-server/oauth-routes.ts';
import { mcpGrantRoutes } from '../../account/oauth-server/routes.ts';
import { limitRoutes, meRoutes, orgRoutes } from '../../account/orgs/routes.ts';
import { isEmbedOrigin } from '../../account/orgs/store.ts';
import { secretRoutes } from '../../account/secrets/routes.ts';
import { createAnswerSeal } from '../../account/secrets/seal.ts';
import { deploymentNames, findDeployment, holdDeployment } from '../../agents/deployments/index.ts';
import { deploymentRoutes } from '../../agents/deployments/routes.ts';
import { modelRoutes } from '../../agents/models/routes.ts';
import { notebookRoutes } from '../../agents/notebooks/routes.ts';
import { openZip } from '../../agents/skills/open-zip.ts';
import { skillRoutes } from '../../agents/skills/routes.ts';
import { mcpServerRoutes } from '../../agents/tool-servers/routes.ts';
import { batchRoutes } from '../../automation/batches/routes.ts';
import { moveRoutinesToTimezone } from '../../automation/routines/move-timezone.ts';
import { routineRoutes } from '../../automation/routines/routes.ts';
import { routineRunRoutes } from '../../automation/routines/run-routes.ts';
import { deliveryRoutes } from '../../automation/webhooks/delivery-routes.ts';
import { webhookRoutes } from '../../automation/webhooks/routes.ts';
import { usageRoutes } from '../../billing/routes.ts';
import { readBalances } from '../../billing/store.ts';
import type { Browsers } from '../../computers/browser/at-holder.ts';
import { browserRoutes, screenRoutes } from '../../computers/browser/routes.ts';
import { computerRoutes } from '../../computers/routes.ts';
import type { ComputerWork } from '../../computers/work-computers.ts';
import type { AnswerRequest } from '../../edges/own-client.ts';
import { whenFirstCalled } from '../../edges/when-first-called.ts';
import { conversationRoutes } from '../../engine/conversations/routes.ts';
import { downloadSource } from '../../engine/files/download.ts';
import { createDownloadLinks } from '../../engine/files/index.ts';
import { fileRoutes } from '../../engine/files/routes.ts';
import type { Engine } from '../../engine/index.ts';
import { interactionRoutes } from '../../engine/interactions/routes.ts';
import { findConversation } from '../../engine/records/conversations.ts';
import { isAttached } from '../../engine/records/messages.ts';
import { findTask } from '../../engine/records/tasks.ts';
import { taskRoutes } from '../../engine/tasks/routes.ts';
import { feedbackRoutes } from '../../evaluation/feedback/routes.ts';
import { replayRoutes } from '../../evaluation/replays/routes.ts';
import { draftRoutes, scenarioRoutes, talkRoutes } from '../../evaluation/scenarios/routes.ts';
import { testRunRoutes } from '../../evaluation/test-runs/routes.ts';
import { latestRuns } from '../../evaluation/test-runs/store.ts';
import { appRoutes, connectionRoutes } from '../../integrations/apps/routes.ts';
import { functionRoutes } from '../../integrations/functions/routes.ts';
import { createSessionIdentity } from '../../integrations/sessions/identity.ts';
import { screenStream, sessionRoutes } from '../../integrations/sessions/routes.ts';
import { createScreenCredentials } from '../../integrations/sessions/screen-credential.ts';
import { embedOriginsOf, embedOriginsOfToken, liveSessionsOf } from '../../integrations/sessions/store.ts';
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
import { createWatchers } from '../../platform/async/watchers.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { createApp } from '../../platform/http/app.ts';
import { clientAddress } from '../../platform/http/client-address.ts';
import { createCursors } from '../../platform/http/cursor.ts';
import { createIdempotency } from '../../platform/http/idempotency.ts';
import { createRateLimiter } from '../../platform/http/rate-limit.ts';
import type { Streams } from '../../platform/http/streams.ts';
import { assertCallable, refuseAddress } from '../../platform/outbound/address.ts';
import { renderFile } from '../../release/file/render-file.ts';
import type { InterviewPorts } from '../../release/interview/ports.ts';
import { answeringInterviews, interviewRoutes } from '../../release/interview/routes.ts';
import { changeLive } from '../../release/promotion/change-live.ts';
import { fixContent } from '../../release/promotion/content.ts';
import { upToDateVersion } from '../../release/promotion/up-to-date-version.ts';
import { faultsOfFile } from '../../release/read/check-file.ts';
import { manifestChecker } from '../../release/read/check-manifest.ts';
import { applyRoutes } from '../../release/routes.ts';
import { memoryRoutes } from '../../users/memory/routes.ts';
import { userRoutes } from '../../users/routes.ts';
import type { VoiceCalls } from '../../voice/calls.ts';
import type { Health } from '../health/health.ts';
import { healthRoutes } from '../health/routes.ts';
import type { Kernel } from '../kernel.ts';
import { version } from '../../platform/version.ts';

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
    render: async (file) => (await import('../../release/file/render-yaml.ts')).renderYaml(file),
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
