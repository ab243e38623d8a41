import { mkdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createAdaptorServer, type ServerType } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import { createCatalogue } from '@vestra/models/providers';
import type { Context, Hono } from 'hono';
import type { Logger } from 'pino';
import { assertCallable } from './adapters/outbound/address.ts';
import { openMasterKeys } from './adapters/secrets/master-key.ts';
import { createVault, type Vault } from './adapters/secrets/vault.ts';
import { agreedSecret } from './agreed-secret.ts';
import { type Credentials, makeFirstOrg } from './bootstrap.ts';
import type { Config } from './config.ts';
import { migrate } from './db/migrate.ts';
import { closeDatabase, type Database, openDatabase, type Transaction } from './db/pool.ts';
import { ownEmbeddedPostgres } from './db/reach-embedded.ts';
import { StartFailure } from './db/start-failure.ts';
import { createKeyUse, type KeyUse } from './domains/audit/api.ts';
import { auditRoutes } from './domains/audit/routes.ts';
import { holdDeployment } from './domains/deployments/api.ts';
import { healthRoutes } from './domains/health/routes.ts';
import { createKeyIdentity } from './domains/keys/api.ts';
import { keyRoutes } from './domains/keys/routes.ts';
import { balanceOf, foldLedger } from './domains/ledger/api.ts';
import { usageRoutes } from './domains/ledger/routes.ts';
import { createConsoleIdentity } from './domains/members/api.ts';
import { consoleRoutes, memberRoutes } from './domains/members/routes.ts';
import { modelRoutes } from './domains/models/routes.ts';
import { limitRoutes, meRoutes, orgRoutes } from './domains/orgs/routes.ts';
import { createAnswerSeal } from './domains/secrets/api.ts';
import { secretRoutes } from './domains/secrets/routes.ts';
import { createSessionIdentity } from './domains/sessions/api.ts';
import { housekeeping } from './housekeeping.ts';
import { createApp } from './http/app.ts';
import { createCursors } from './http/cursor.ts';
import { createIdempotency } from './http/idempotency.ts';
import { createRateLimiter } from './http/rate-limit.ts';
import { catalog } from './jobs/catalog.ts';
import { createJobs } from './jobs/queue.ts';
import { startWorker } from './jobs/worker.ts';
import { referencePages } from './pages/reference.ts';
import { version } from './version.ts';

export type Server = {
  /** Null for a worker, which serves nobody. */
  url: string | null;
  firstCredentials: Credentials | null;
  stop: () => Promise<void>;
};

const migrations = join(import.meta.dirname, 'db', 'migrations');
const graceMs = 30_000;

/** Everything in one process, put together in the order in which each part needs the one before. */
export async function startServer(config: Config, log: Logger): Promise<Server> {
  const undo: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (let step = undo.pop(); step; step = undo.pop()) await step();
  };
  try {
    if (config.databaseUrl !== null) makeDataDir(config.dataDir);
    const connectionString = config.databaseUrl ?? (await startPostgres());
    const db = await openDatabase({ connectionString });
    undo.push(() => closeDatabase(db));
    await migrate(db, migrations);

    const vault = createVault(openMasterKeys(config));
    const cursorSecret = await agreedSecret(db, vault, 'cursor-secret');
    const firstCredentials = await makeFirstOrg(db, vault, config.dataDir);

    const jobs = createJobs({ db, connectionString, catalog, log, settings: { listen: config.role !== 'api' } });
    undo.push(() => jobs.stop());
    await jobs.start();
    if (config.role !== 'api') {
      const handlers = { 'ledger.fold': () => foldLedger(db), housekeeping: () => housekeeping(db) };
      const worker = startWorker({ jobs, log, handlers });
      undo.push(() => worker.stop({ graceMs }));
    }
    if (config.role === 'worker') return { url: null, firstCredentials, stop };

    const keyUse = createKeyUse(db, log);
    undo.push(() => keyUse.stop());
    // The port is chosen before the app is put together, since links in answers carry it.
    let app: Hono | undefined;
    const http = createAdaptorServer({ fetch: (request, env) => (app as Hono).fetch(request, env) });
    await listen(http, config);
    undo.push(() => close(http));
    const url = urlOf(http);
    app = assembleApp({ config, db, log, vault, cursorSecret, keyUse, publicUrl: config.publicUrl ?? url });
    return { url, firstCredentials, stop };
  } catch (error) {
    await stop();
    throw error;
  }

  async function startPostgres(): Promise<string> {
    const postgres = await ownEmbeddedPostgres({ dataDir: config.dataDir, log: (line) => log.info(line) });
    undo.push(() => postgres.stop());
    return postgres.connectionString;
  }
}

type Parts = {
  config: Config;
  db: Database;
  log: Logger;
  vault: Vault;
  cursorSecret: Buffer;
  keyUse: KeyUse;
  publicUrl: string;
};

function assembleApp({ config, db, log, vault, cursorSecret, keyUse, publicUrl }: Parts): Hono {
  const { requestsPerMinute } = config;
  const keyIdentity = createKeyIdentity(db);
  const rateLimiter = createRateLimiter(db);
  const catalogue = createCatalogue(config.models);
  const members = { db, rateLimiter, publicUrl };
  const orgs = {
    db,
    requestsPerMinute,
    balanceOf,
    findDeployment: async (tx: Transaction, orgId: string, reference: string) =>
      (await holdDeployment(tx, orgId, reference, 'default_deployment')).id,
    assertCallable: (address: string, param: string) =>
      assertCallable(address, param, { allowPrivate: config.allowPrivateAddresses }),
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
      usage: usageRoutes({ db }),
      auditLog: auditRoutes({ db, keyUse }),
      models: modelRoutes({ catalogue }),
      health: healthRoutes({ db, version }),
    },
  });
}

function makeDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o711 });
  } catch (error) {
    throw new StartFailure(
      `The data folder ${dataDir} cannot be made (${(error as NodeJS.ErrnoException).code}). Set VESTRA_DATA_DIR to one that can.`,
    );
  }
}

function listen(http: ServerType, { host, port }: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once('error', (error: NodeJS.ErrnoException) => {
      const reasons: Record<string, string> = {
        EADDRINUSE: `Port ${port} on ${host} is in use. Stop what uses it, or set PORT to another.`,
        EACCES: `Port ${port} needs more rights than this user has. Set PORT to one above 1023.`,
        EADDRNOTAVAIL: `This machine has no address ${host}. Set HOST to one it has.`,
      };
      reject(
        new StartFailure(reasons[error.code ?? ''] ?? `The server cannot listen on ${host}:${port} (${error.code}).`),
      );
    });
    http.listen(port, host, resolve);
  });
}

/** Answers what has begun, takes nothing new, and after the grace cuts what is still open. */
function close(http: ServerType): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => 'closeAllConnections' in http && http.closeAllConnections(), graceMs);
    http.close(() => {
      clearTimeout(cut);
      resolve();
    });
    if ('closeIdleConnections' in http) http.closeIdleConnections();
  });
}

function urlOf(http: ServerType): string {
  const { address, port, family } = http.address() as AddressInfo;
  const host = address === '0.0.0.0' || address === '::' ? '127.0.0.1' : address;
  return `http://${family === 'IPv6' && host.includes(':') ? `[${host}]` : host}:${port}`;
}
