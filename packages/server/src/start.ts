import { mkdirSync } from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { createAdaptorServer, type ServerType } from '@hono/node-server';
import type { Hono } from 'hono';
import type { Logger } from 'pino';
import { createOfflineEmbeddings } from './adapters/embeddings/offline.ts';
import { createDiskStore } from './adapters/files/disk.ts';
import { createOutbound } from './adapters/outbound/fetcher.ts';
import { openMasterKeys } from './adapters/secrets/master-key.ts';
import { createVault } from './adapters/secrets/vault.ts';
import { agreedSecret } from './agreed-secret.ts';
import { assembleApp } from './assemble-app.ts';
import { assembleApplyPorts } from './assemble-apply.ts';
import { assembleApps } from './assemble-apps.ts';
import { assembleBrowsers } from './assemble-browsers.ts';
import { assembleComputers } from './assemble-computers.ts';
import { assembleEngine } from './assemble-engine.ts';
import { assembleJobs, sweepSources } from './assemble-jobs.ts';
import { type Credentials, makeFirstOrg } from './bootstrap.ts';
import type { Config } from './config.ts';
import { createBell } from './db/bell.ts';
import { openLine } from './db/listen.ts';
import { migrate } from './db/migrate.ts';
import { closeDatabase, openDatabase } from './db/pool.ts';
import { ownEmbeddedPostgres } from './db/reach-embedded.ts';
import { StartFailure } from './db/start-failure.ts';
import { promoteAfterTests } from './domains/apply/promote-after-tests.ts';
import { createKeyUse } from './domains/audit/api.ts';
import { liveKeys } from './domains/keys/api.ts';
import { liveSessions } from './domains/sessions/api.ts';
import type { Player } from './domains/test-runs/api.ts';
import { startDelivering } from './domains/webhooks/api.ts';
import { createStreams } from './http/streams.ts';
import { catalog } from './jobs/catalog.ts';
import { createJobs } from './jobs/queue.ts';
import { startSweeping } from './jobs/sweep.ts';
import { startWorker } from './jobs/worker.ts';

export type Server = {
  /** Null for a worker, which serves nobody. */
  url: string | null;
  firstCredentials: Credentials | null;
  /** Lets what runs come to an end, for as long as the grace lasts. */
  stop: () => Promise<void>;
  /** Waits for nothing but the database that this process started: what was under way goes on at the next start. */
  stopAtOnce: () => Promise<void>;
};

const migrations = join(import.meta.dirname, 'db', 'migrations');
const graceMs = 30_000;

/** Everything in one process, put together in the order in which each part needs the one before. */
export async function startServer(config: Config, log: Logger): Promise<Server> {
  const undo: (() => Promise<void>)[] = [];
  // A worker serves nobody and does not know the address of those that do: the setting names it.
  let publicUrl = config.publicUrl ?? `http://${config.host}:${config.port}`;
  let leave = () => {};
  // One grace for all: parts that wait for the same work one after the other would make it many.
  let graceEnds = 0;
  const graceLeft = () => Math.max(0, graceEnds - Date.now());
  const stop = async () => {
    graceEnds = Date.now() + graceMs;
    // Before anything is waited for: a task that has an hour to go gives itself back at its next step.
    leave();
    for (let step = undo.pop(); step; step = undo.pop()) await step();
  };
  let stopPostgres = async () => {};
  const stopAtOnce = () => stopPostgres();
  try {
    if (config.databaseUrl !== null) makeDataDir(config.dataDir);
    const connectionString = config.databaseUrl ?? (await startPostgres());
    const db = await openDatabase({ connectionString });
    undo.push(() => closeDatabase(db));
    await migrate(db, migrations);

    const vault = createVault(openMasterKeys(config));
    const signingSecret = await agreedSecret(db, vault, 'signing-secret');
    const firstCredentials = await makeFirstOrg(db, vault, config.dataDir);

    const outbound = createOutbound({ allowPrivate: config.allowPrivateAddresses });
    undo.push(() => outbound.close());
    const apps = assembleApps({ config, outbound });
    const files = createDiskStore(join(config.dataDir, 'files'));
    const embeddings = createOfflineEmbeddings();
    undo.push(() => embeddings.close());
    const line = await openLine({ connectionString, log });
    undo.push(() => line.close());
    const jobs = createJobs({ db, line, catalog, settings: { listen: config.role !== 'api' } });
    await jobs.start();
    const bell = await createBell({ db, line, log });
    undo.push(() => bell.stop());
    const { computers, computerWork } = assembleComputers({ config, db, bell, log, vault, files });
    undo.push(() => computers.stop());
    const desks = assembleBrowsers({ config, computers, log });
    undo.push(async () => desks.stop());
    const {
      engine,
      followers,
      stop: stopEngine,
    } = assembleEngine({
      config,
      db,
      bell,
      jobs,
      log,
      vault,
      signingSecret,
      files,
      outbound,
      embeddings,
      apps,
      computerWork,
      desks,
    });
    undo.push(() => stopEngine({ graceMs: graceLeft() }));
    leave = engine.runner.leave;
    if (config.role !== 'api') {
      const apply = assembleApplyPorts({
        vault,
        catalogue: engine.models.catalogue,
        apps: apps.catalogue,
        allowPrivate: config.allowPrivateAddresses,
        jobs,
      });
      const player: Player = { engine, followers, promote: (tx, of) => promoteAfterTests(tx, apply, of) };
      const handlers = assembleJobs({
        db,
        files,
        engine,
        player,
        computers,
        computerWork,
        publicUrl: () => publicUrl,
        retentionDays: config.retentionDays,
      });
      const worker = startWorker({ jobs, log, handlers });
      undo.push(() => worker.stop({ graceMs: graceLeft() }));
      const sweeping = await startSweeping({ jobs, db, log, sources: sweepSources, everyMs: config.runs.sweepEveryMs });
      undo.push(() => sweeping.stop());
      const delivering = await startDelivering({ db, vault, outbound, log, line });
      undo.push(() => delivering.stop({ graceMs: graceLeft() }));
    }
    if (config.role === 'worker') return { url: null, firstCredentials, stop, stopAtOnce };

    const streams = createStreams();
    const liveOf = async (ids: string[]) => new Set([...(await liveKeys(db, ids)), ...(await liveSessions(db, ids))]);
    bell.on('credential', (id) => {
      if (id === null) void streams.endUnlessLive(liveOf);
      else streams.endCredential(id);
    });
    const keyUse = createKeyUse(db, log);
    undo.push(() => keyUse.stop());
    // The port is chosen before the app is put together, since links in answers carry it.
    let app: Hono | undefined;
    const http = createAdaptorServer({ fetch: (request, env) => (app as Hono).fetch(request, env) });
    const sockets = socketsOf(http);
    await listen(http, config);
    undo.push(() => {
      streams.endAll();
      return close(http, sockets);
    });
    const url = urlOf(http);
    publicUrl = config.publicUrl ?? url;
    app = assembleApp({
      config,
      db,
      bell,
      jobs,
      log,
      vault,
      signingSecret,
      files,
      outbound,
      embeddings,
      apps,
      engine,
      computerWork,
      desks,
      followers,
      streams,
      keyUse,
      publicUrl,
    });
    return { url, firstCredentials, stop, stopAtOnce };
  } catch (error) {
    await stop();
    throw error;
  }

  async function startPostgres(): Promise<string> {
    const postgres = await ownEmbeddedPostgres({ dataDir: config.dataDir, log: (line) => log.info(line) });
    stopPostgres = () => postgres.stop();
    undo.push(stopPostgres);
    return postgres.connectionString;
  }
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
    // Longer than the idle time of the usual proxies, so that it is never the server that closes under a new request.
    if ('keepAliveTimeout' in http) http.keepAliveTimeout = 75_000;
    http.listen(port, host, resolve);
  });
}

/** Answers what has begun, takes nothing new, and after the grace cuts what is still open. */
function close(http: ServerType, sockets: ReadonlySet<Socket>): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => 'closeAllConnections' in http && http.closeAllConnections(), graceMs);
    // A connection that is kept alive becomes idle when its answer has gone out, and one on which nothing was ever sent
    // never counts as idle: both would be waited for.
    const closeIdle = () => {
      if ('closeIdleConnections' in http) http.closeIdleConnections();
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    };
    const idle = setInterval(closeIdle, 100);
    http.close(() => {
      clearTimeout(cut);
      clearInterval(idle);
      resolve();
    });
    closeIdle();
  });
}

function socketsOf(http: ServerType): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  http.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return sockets;
}

function urlOf(http: ServerType): string {
  const { address, port, family } = http.address() as AddressInfo;
  const host = address === '0.0.0.0' || address === '::' ? '127.0.0.1' : address;
  return `http://${family === 'IPv6' && host.includes(':') ? `[${host}]` : host}:${port}`;
}
