import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context, Hono } from 'hono';
import type { KeyUse } from '../account/audit/key-use.ts';
import { isEmbedOrigin } from '../account/orgs/store.ts';
import { createAnswerSeal } from '../account/secrets/secrets.ts';
import type { RemoteBrowsers } from '../computers/browser/remote-browser.ts';
import { downloadSource } from '../engine/files/downloads.ts';
import { createDownloadLinks } from '../engine/files/index.ts';
import type { Engine } from '../engine/index.ts';
import { screenStream } from '../integrations/sessions/routes.ts';
import { createScreenCredentials, createSessionIdentity } from '../integrations/sessions/sessions.ts';
import { embedOriginsOf, embedOriginsOfToken } from '../integrations/sessions/store.ts';
import { authorizationDocuments, clientDocumentPage, resourceMetadataOf } from '../pages/authorization-documents.ts';
import { consolePages } from '../pages/console.ts';
import { guidePages, referencePages } from '../pages/documentation.ts';
import { downloadPages } from '../pages/downloads.ts';
import { frontPages, pagesForPrograms } from '../pages/front.ts';
import { screenPages } from '../pages/screen.ts';
import { embedScript, sessionPages } from '../pages/session.ts';
import { missingPages } from '../pages/static-content.ts';
import { createApp } from '../platform/http/app.ts';
import { clientAddress } from '../platform/http/client-address.ts';
import { createCursors } from '../platform/http/cursor.ts';
import { createIdempotency } from '../platform/http/idempotency.ts';
import { createRateLimiter } from '../platform/http/rate-limit.ts';
import type { Streams } from '../platform/http/streams.ts';
import { joinIdentities, joinRoutes, type Registration, type Serving } from '../platform/registration.ts';
import { version } from '../platform/version.ts';
import type { Kernel } from './kernel.ts';

type Parts = {
  engine: Engine;
  browsers: RemoteBrowsers;
  streams: Streams;
  keyUse: KeyUse;
  operatorPages: (app: Hono) => void;
};

export function createServerApp(kernel: Kernel, modules: readonly Registration[], parts: Parts): Hono {
  const { config, db, log, vault, signingSecret } = kernel;
  const { engine, streams, keyUse } = parts;
  const publicUrl = kernel.publicUrl.get();
  const rateLimiter = createRateLimiter(db);
  const serving: Serving = { publicUrl, streams, rateLimiter };
  return createApp({
    log,
    // Requests from an edge have no socket, so the edge passes the address of its caller.
    addressOf: (context: Context) =>
      context.env.callerAddress ??
      clientAddress(
        getConnInfo(context).remote.address ?? '',
        context.req.header('x-forwarded-for') ?? null,
        config.isTrustedProxy,
      ),
    isFromEdge: (context: Context) => context.env.callerAddress !== undefined,
    resourceMetadata: resourceMetadataOf(authorizationOf(publicUrl)),
    isLeaving: engine.runner.isLeaving,
    answered: kernel.metrics.requestAnswered,
    pages: (app) => addPages(app, kernel, parts),
    path: {
      db,
      writes: engine.writes,
      requestsPerMinute: config.requestsPerMinute,
      rateLimiter,
      cursors: createCursors(signingSecret),
      embedOrigins: {
        isListed: (origin) => isEmbedOrigin(db, origin),
        ofToken: (token) => embedOriginsOfToken(db, token),
      },
      idempotency: createIdempotency(db, createAnswerSeal(vault)),
      identities: joinIdentities(modules, serving),
      keyUsed: keyUse.used,
    },
    handlers: joinRoutes(modules, serving),
  });
}

function addPages(app: Hono, kernel: Kernel, { browsers, streams, operatorPages }: Parts): void {
  const { config, db, log, files, signingSecret } = kernel;
  const publicUrl = kernel.publicUrl.get();
  operatorPages(app);
  frontPages({ version })(app);
  authorizationDocuments(authorizationOf(publicUrl))(app);
  clientDocumentPage({ publicUrl, redirectUri: `${publicUrl}/v1/connections/callback` })(app);
  const missing = missingPages();
  if (missing) log.warn(missing);
  referencePages({ version, url: publicUrl })(app);
  pagesForPrograms({ version, url: publicUrl })(app);
  guidePages()(app);
  const { isGood } = createDownloadLinks(signingSecret, publicUrl);
  downloadPages({ isGood, find: downloadSource(db, files, { isDirect: config.files.isDirect }) })(app);
  embedScript()(app);
  consolePages()(app);
  const originsOf = (sessionId: string) => embedOriginsOf(db, sessionId);
  sessionPages({ embedOriginsOf: originsOf })(app);
  const stream = screenStream({
    db,
    screens: browsers.screens,
    credentials: createScreenCredentials(signingSecret),
    streams,
    callerOf: createSessionIdentity(db).ofSessionId,
  });
  screenPages(stream, originsOf)(app);
}

function authorizationOf(publicUrl: string) {
  const issuer = publicUrl.replace(/\/+$/, '');
  return { issuer, resource: `${issuer}/v1/mcp` };
}
