import { getConnInfo } from '@hono/node-server/conninfo';
import { createCatalogue } from '@vestra/models/providers';
import type { Context, Hono } from 'hono';
import type { Logger } from 'pino';
import { assertCallable } from './adapters/outbound/address.ts';
import type { Vault } from './adapters/secrets/vault.ts';
import type { Tenant } from './caller.ts';
import type { Config } from './config.ts';
import type { Database, Transaction } from './db/pool.ts';
import type { KeyUse } from './domains/audit/api.ts';
import { auditRoutes } from './domains/audit/routes.ts';
import { findDeployment, holdDeployment } from './domains/deployments/api.ts';
import { healthRoutes } from './domains/health/routes.ts';
import { createKeyIdentity } from './domains/keys/api.ts';
import { keyRoutes } from './domains/keys/routes.ts';
import { balanceOf } from './domains/ledger/api.ts';
import { usageRoutes } from './domains/ledger/routes.ts';
import { createConsoleIdentity } from './domains/members/api.ts';
import { consoleRoutes, memberRoutes } from './domains/members/routes.ts';
import { modelRoutes } from './domains/models/routes.ts';
import { limitRoutes, meRoutes, orgRoutes } from './domains/orgs/routes.ts';
import { createAnswerSeal } from './domains/secrets/api.ts';
import { secretRoutes } from './domains/secrets/routes.ts';
import { createSessionIdentity } from './domains/sessions/api.ts';
import { userRoutes } from './domains/users/routes.ts';
import { createApp } from './http/app.ts';
import { createCursors } from './http/cursor.ts';
import { createIdempotency } from './http/idempotency.ts';
import { createRateLimiter } from './http/rate-limit.ts';
import type { Jobs } from './jobs/queue.ts';
import { referencePages } from './pages/reference.ts';
import { version } from './version.ts';

export type Parts = {
  config: Config;
  db: Database;
  jobs: Jobs;
  log: Logger;
  vault: Vault;
  cursorSecret: Buffer;
  keyUse: KeyUse;
  publicUrl: string;
};

/** Every domain with what it needs, behind one app. */
export function assembleApp({ config, db, jobs, log, vault, cursorSecret, keyUse, publicUrl }: Parts): Hono {
  const { requestsPerMinute } = config;
  const keyIdentity = createKeyIdentity(db);
  const rateLimiter = createRateLimiter(db);
  const catalogue = createCatalogue(config.models);
  const callable = { allowPrivate: config.allowPrivateAddresses };
  const members = { db, rateLimiter, publicUrl };
  const orgs = {
    db,
    requestsPerMinute,
    balanceOf,
    findDeployment: async (tx: Transaction, orgId: string, reference: string) =>
      (await holdDeployment(tx, orgId, reference, 'default_deployment')).id,
    assertCallable: (address: string, param: string) => assertCallable(address, param, callable),
  };
  const usage = {
    db,
    deploymentIdOf: async ({ orgId }: Tenant, reference: string) =>
      (await findDeployment(db, orgId, reference))?.deployment.id ?? null,
  };
  return createApp({
    log,
    addressOf: (context: Context) => getConnInfo(context).remote.address ?? '',
    pages: referencePages({ version, url: publicUrl }),
    path: {
      db,
      requestsPerMinute,
      rateLimiter,
      cursors: createCursors(cursorSecret),
      idempotency: createIdempotency(db, createAnswerSeal(vault)),
      identities: { ...keyIdentity, ...createSessionIdentity(db), ...createConsoleIdentity(db) },
      keyUsed: keyUse.used,
    },
    handlers: {
      me: meRoutes(),
      orgs: orgRoutes(orgs),
      limits: limitRoutes(orgs),
      keys: keyRoutes({ db, identity: keyIdentity }),
      members: memberRoutes(members),
      consoleAccess: consoleRoutes(members),
      secrets: secretRoutes({ db, vault }),
      users: userRoutes({ db, jobs }),
      usage: usageRoutes(usage),
      auditLog: auditRoutes({ db, keyUse }),
      models: modelRoutes({ catalogue }),
      health: healthRoutes({ db, version }),
    },
  });
}
