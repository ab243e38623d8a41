import { mkdirSync } from 'node:fs';
import type { Catalogue } from '@vestra/models/catalogue/catalogue';
import type { Hono } from 'hono';
import type { Logger } from 'pino';
import { ownEmbeddedPostgres } from '../db/reach-embedded.ts';
import { StartFailure } from '../db/start-failure.ts';
import { promoteAfterTests } from '../domains/apply/promotion/promote-after-tests.ts';
import { createKeyUse } from '../domains/audit/api.ts';
import { liveKeys } from '../domains/keys/api.ts';
import type { Credentials } from '../domains/new-orgs/api.ts';
import { indexStateOf } from '../domains/notebooks/api.ts';
import { liveSessions } from '../domains/sessions/api.ts';
import type { Player } from '../domains/test-runs/api.ts';
import { startDelivering } from '../domains/webhooks/api.ts';
import { createStreams } from '../http/streams.ts';
import { startSweeping } from '../jobs/sweep.ts';
import { startWorker } from '../jobs/worker.ts';
import { keepAskingForModels } from './ask-for-models.ts';
import { assembleApp } from './assemble/app.ts';
import { assembleBrowsers } from './assemble/browsers.ts';
import { assembleComputers } from './assemble/computers.ts';
import { assembleEngine } from './assemble/engine.ts';
import { assembleJobs, sweepSources } from './assemble/jobs.ts';
import type { Config } from './config.ts';
import { makeFirstOrg } from './first-org.ts';
import { createKernel } from './kernel.ts';
import { createLate } from './late.ts';
import { listen } from './listen.ts';
import { createShutdown } from './shutdown.ts';

export type Server = {
  /** Null for a worker, which serves nobody. */
  url: string | null;
  firstCredentials: Credentials | null;
  /** The models that agents of this server can be given. */
  catalogue: Catalogue;
  /** Lets what runs come to an end, for as long as the grace lasts. */
  stop: () => Promise<void>;
  /** Waits for nothing but the database that this process started: what was under way goes on at the next start. */
  stopAtOnce: () => Promise<void>;
};

const graceMs = 30_000;

/** Everything in one process, put together in the order in which each part needs the one before. */
export async function startServer(config: Config, log: Logger): Promise<Server> {
  const shutdown = createShutdown({ graceMs });
  try {
    const postgres = await reachPostgres(config, log);
    shutdown.undo(postgres.stop);
    const kernel = await createKernel(config, log, { connectionString: postgres.connectionString, shutdown });
    const { db, vault, bell, embeddings, jobs, outbound, line, models } = kernel;
    const firstCredentials = await makeFirstOrg(db, vault, config.dataDir);
    const { computers, computerWork } = assembleComputers(kernel);
    shutdown.undo(() => computers.stop());
    const browserPool = assembleBrowsers(kernel, computers);
    shutdown.undo(() => browserPool.stop());
    const { engine, followers, stop: stopEngine } = assembleEngine(kernel, { computerWork, browserPool });
    shutdown.undo(stopEngine);
    shutdown.tellFirst(engine.runner.leave);
    if (config.role !== 'api') {
      const player: Player = {
        engine,
        followers,
        promote: (tx, of) => promoteAfterTests(tx, kernel, of),
        indexStateOf: (reader) => indexStateOf(db, reader, embeddings.model),
      };
      const handlers = assembleJobs(kernel, { engine, player, computers, computerWork });
      const worker = startWorker({ jobs, log, handlers });
      shutdown.undo(worker.stop);
      const sweeping = await startSweeping({
        jobs,
        db,
        log,
        sources: sweepSources(kernel),
        everyMs: config.runs.sweepEveryMs,
      });
      shutdown.undo(() => sweeping.stop());
      const delivering = await startDelivering({ db, vault, outbound, log, line });
      shutdown.undo(delivering.stop);
    }
    if (config.asksForModels) shutdown.undo(keepAskingForModels(models).stop);
    const server = {
      firstCredentials,
      catalogue: models.catalogue,
      stop: shutdown.run,
      stopAtOnce: postgres.stop,
    };
    if (config.role === 'worker') return { ...server, url: null };

    const streams = createStreams();
    const liveOf = async (ids: string[]) => new Set([...(await liveKeys(db, ids)), ...(await liveSessions(db, ids))]);
    bell.on('credential', (id) => {
      if (id === null) void streams.endUnlessLive(liveOf);
      else streams.endCredential(id);
    });
    const keyUse = createKeyUse(db, log);
    shutdown.undo(() => keyUse.stop());
    // The port is chosen before the app is put together, since links in answers carry it.
    const app = createLate<Hono>('the app');
    const { url, close } = await listen((request, env) => app.get().fetch(request, env), config);
    shutdown.undo((options) => {
      streams.endAll();
      return close(options);
    });
    kernel.publicUrl.set(config.publicUrl ?? url);
    app.set(
      assembleApp(kernel, {
        engine,
        followers,
        computerWork,
        browserPool,
        streams,
        keyUse,
        answer: (request, callerAddress) => app.get().fetch(request, { callerAddress }),
      }),
    );
    return { ...server, url };
  } catch (error) {
    await shutdown.run();
    throw error;
  }
}

/** The database that the settings name, or else one of this process's own. */
async function reachPostgres(
  { databaseUrl, dataDir }: Config,
  log: Logger,
): Promise<{ connectionString: string; stop: () => Promise<void> }> {
  if (databaseUrl === null) return ownEmbeddedPostgres({ dataDir, log: (line) => log.info(line) });
  makeDataDir(dataDir);
  return { connectionString: databaseUrl, stop: async () => {} };
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
