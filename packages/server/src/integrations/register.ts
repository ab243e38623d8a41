import type { McpClient } from '../agents/index.ts';
import type { Screens } from '../computers/index.ts';
import type { Engine } from '../engine/index.ts';
import { createWaiters } from '../platform/async/waiters.ts';
import { lazyRoutes } from '../platform/http/handler.ts';
import type { Kernel } from '../platform/kernel.ts';
import type { Registration } from '../platform/registration.ts';
import type { VoiceCalls } from '../voice/index.ts';
import type { AppSignIn } from './app-sign-in/sign-in-server.ts';
import type { AppCatalogue } from './apps/catalogue.ts';
import { resumeAfterConnecting } from './apps/connections.ts';
import { pruneConnections, removeConnectionsOfUser } from './apps/store.ts';
import { functionRoutes } from './functions/routes.ts';
import { sessionRoutes } from './sessions/routes.ts';
import { createScreenCredentials, createSessionIdentity } from './sessions/sessions.ts';
import { pruneSessions, removeSessionsOfUser, sessionEnder } from './sessions/store.ts';

/** The apps that users can connect, and the sign-in there. */
export type Apps = { catalogue: AppCatalogue; signIn: AppSignIn };

export type IntegrationServices = {
  engine: Engine;
  apps: Apps;
  mcpClient: McpClient;
  screens: Screens;
  /** Known once the process serves callers. */
  voice: () => VoiceCalls;
  /** The address of the client document, for a public URL over https; null if no server could fetch it. */
  clientDocument: (publicUrl: string) => string | null;
};

export function register(kernel: Kernel, services: IntegrationServices): Registration {
  const { db, vault, jobs, processNews, signingSecret, assertCallable } = kernel;
  const { engine, apps, mcpClient, screens, voice, clientDocument } = services;
  return {
    routes({ publicUrl, streams }) {
      const redirectUri = `${publicUrl}/v1/connections/callback`;
      const connecting = {
        ...apps,
        db,
        vault,
        jobs,
        mcpClient,
        redirectUri,
        clientDocument: clientDocument(publicUrl),
      };
      const watchers = createWaiters();
      processNews.on('tool_call', watchers.wake);
      return {
        apps: lazyRoutes('apps', async () => (await import('./apps/routes.ts')).appRoutes(connecting)),
        connections: lazyRoutes('connections', async () =>
          (await import('./apps/routes.ts')).connectionRoutes(connecting),
        ),
        functions: functionRoutes({ engine, vault, streams, watchers, assertCallable }),
        sessions: sessionRoutes({
          engine,
          publicUrl,
          screens,
          credentials: createScreenCredentials(signingSecret),
          voice: voice(),
          ended: (sessionId) => processNews.notify('credential', sessionId),
        }),
      };
    },
    identities: () => createSessionIdentity(db),
    jobs: {
      'connection.settle': ({ org_id, mode, connection_id }) =>
        resumeAfterConnecting(engine, { orgId: org_id, mode, connectionId: connection_id }),
    },
    expiry: [
      // A page that was left open asks for its session long after its end, and learns that it has ended.
      { days: 30, prune: pruneSessions },
      { days: 30, prune: pruneConnections },
    ],
    conversationErasure: [sessionEnder((sessionId) => processNews.notify('credential', sessionId))],
    erasure: [removeSessionsOfUser, removeConnectionsOfUser],
  };
}
