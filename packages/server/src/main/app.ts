import { getConnInfo } from '@hono/node-server/conninfo';
import { modes } from '@vestra/contract/route';
import type { Context, Hono } from 'hono';
import type { KeyUse } from '../account/audit/key-use.ts';
import { isEmbedOrigin } from '../account/orgs/store.ts';
import { createAnswerSeal } from '../account/secrets/secrets.ts';
import type { Engine } from '../engine/index.ts';
import { embedOriginsOfToken } from '../integrations/sessions/store.ts';
import { authorizationOf, resourceMetadataOf } from '../pages/authorization-documents.ts';
import { transaction } from '../platform/db/transaction.ts';
import { createApp } from '../platform/http/app.ts';
import { createBodyBytes } from '../platform/http/body-bytes.ts';
import { clientAddress } from '../platform/http/client-address.ts';
import { createCursors } from '../platform/http/cursor.ts';
import { createIdempotency } from '../platform/http/idempotency.ts';
import { createRateLimiter } from '../platform/http/rate-limit.ts';
import type { Streams } from '../platform/http/streams.ts';
import { createUnfinishedRequests } from '../platform/http/unfinished-requests.ts';
import { joinIdentities, joinRoutes, type Registration, type Serving } from '../platform/registration.ts';
import type { Watchdog } from '../platform/watchdog/watchdog.ts';
import type { Kernel } from './kernel.ts';

type Parts = {
  engine: Engine;
  streams: Streams;
  keyUse: KeyUse;
  watchdog: Pick<Watchdog, 'note'>;
};

export function createServerApp(kernel: Kernel, modules: readonly Registration[], parts: Parts): Hono {
  const { config, db, log, vault, signingSecret } = kernel;
  const { engine, streams, keyUse, watchdog } = parts;
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
    pages(app) {
      for (const { pages } of modules) for (const add of pages?.(serving) ?? []) add(app);
    },
    path: {
      db,
      writes: engine.writes,
      requestsPerMinute: config.requestsPerMinute,
      rateLimiter,
      unfinished: createUnfinishedRequests(),
      bodyBytes: createBodyBytes(),
      cursors: createCursors(signingSecret),
      embedOrigins: {
        isListed: (origin) => isEmbedOrigin(db, origin),
        ofToken: (token) => embedOriginsOfToken(db, token),
      },
      idempotency: createIdempotency(db, createAnswerSeal(vault)),
      identities: joinIdentities(modules, serving),
      keyUsed: keyUse.used,
      onReceived: watchdog.note,
      deleted: ({ orgId }, deleted) =>
        transaction(db, async (tx) => {
          const erasure = modules.toReversed().flatMap(({ objectErasure }) => objectErasure ?? []);
          for (const mode of modes) for (const erase of erasure) await erase(tx, { orgId, mode }, deleted);
        }),
    },
    handlers: joinRoutes(modules, serving),
  });
}
