import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Catalogue } from '@vestra/models/catalogue/catalogue';
import type { Hono } from 'hono';
import type { Logger } from 'pino';
import { createKeyUse } from '../account/audit/key-use.ts';
import { liveKeys } from '../account/keys/keys.ts';
import { liveGrants } from '../account/oauth-server/grants.ts';
import { startDelivering } from '../automation/webhooks/dispatcher.ts';
import type { Engine } from '../engine/index.ts';
import { startServingEndpoints } from '../integrations/functions/serve-endpoints.ts';
import { liveSessions } from '../integrations/sessions/store.ts';
import { type Config, servesCallers } from '../platform/config/config.ts';
import { closeDatabase } from '../platform/db/pool.ts';
import { createStreams } from '../platform/http/streams.ts';
import { startSweeping } from '../platform/jobs/sweep.ts';
import { startWorker } from '../platform/jobs/worker.ts';
import { createLate } from '../platform/lazy-ref.ts';
import type { Registration } from '../platform/registration.ts';
import type { VoiceCalls } from '../voice/calls.ts';
import { createServerApp } from './app.ts';
import { keepAskingForModels } from './ask-for-models.ts';
import { assembleBrowsers } from './assemble/browsers.ts';
import { assembleComputers } from './assemble/computers.ts';
import { assembleEngine } from './assemble/engine.ts';
import { assembleOperator } from './assemble/operator.ts';
import { assembleVoice, type VoiceParts, voicePartsOf } from './assemble/voice.ts';
import { type BegunPostgres, beginPostgres } from './begin-postgres.ts';
import { noteAddress } from './credentials-file.ts';
import { jobHandlers, sweepSources } from './jobs.ts';
import { createKernel, type Kernel } from './kernel.ts';
import { listen } from './listen.ts';
import type { Credentials } from './provisioning/create-org.ts';
import { registrationsOf } from './registrations.ts';
import { createShutdown, type Shutdown } from './shutdown.ts';

export type Server = {
  /** Null for a worker, which serves nobody. */
  url: string | null;
  firstCredentials: Credentials | null;
  /** The models that agents of this server can be given. */
  catalogue: Catalogue;
  /** Why the compatible endpoint lists no model, once it was asked; null if it lists some or is not asked. */
  compatibleProblem: () => Promise<string | null>;
  /** Lets what runs come to an end, for as long as the grace lasts. */
  stop: () => Promise<void>;
  /** Waits for nothing but the database that this process started: what was under way goes on at the next start. */
  stopAtOnce: () => Promise<void>;
};

/** Before the sockets are cut, clients get this much of the grace to read the last event of their streams. */
const lastEventsMs = 2_000;

/** Everything in one process, put together in the order in which each part needs the one before. */
export async function startServer(
  config: Config,
  log: Logger,
  begun: Pick<BegunPostgres, 'reached'> = beginPostgres(config, log),
  voiceParts: VoiceParts = voicePartsOf(config),
): Promise<Server> {
  const shutdown = createShutdown({ graceMs: config.stopMs });
  try {
    const postgres = await begun.reached;
    shutdown.undo(postgres.stop);
    const { db, connectionString } = postgres;
    shutdown.undo(() => closeDatabase(db));
    const { kernel, firstCredentials } = await createKernel(config, log, { db, connectionString, shutdown });
    const { processNews, models } = kernel;
    const computerParts = assembleComputers(kernel);
    const { computers, computerWork, routing } = computerParts;
    shutdown.undo(() => computerParts.stop());
    const browserParts = assembleBrowsers(kernel, computerParts);
    shutdown.undo(browserParts.stop);
    const {
      engine,
      followers,
      stop: stopEngine,
    } = assembleEngine(kernel, {
      computerWork,
      browsers: browserParts.workBrowsers,
    });
    shutdown.undo(stopEngine);
    shutdown.tellFirst(engine.runner.leave);
    const operator = assembleOperator(kernel, {
      engine,
      computers,
      countBrowsers: browserParts.countRunning,
    });
    if (config.operatorPort !== null) {
      const { close } = await listen(operator.app().fetch, { ...config, port: config.operatorPort });
      shutdown.undo(close);
    }
    const app = createLate<Hono>('the app');
    const voice = createLate<VoiceCalls>('the voice calls');
    const modules = registrationsOf(kernel, {
      engine,
      followers,
      computers,
      computerWork,
      browsers: browserParts.browsers,
      voice: voice.get,
      answer: (request, callerAddress) => app.get().fetch(request, { callerAddress }),
      health: operator.health,
    });
    let compatibleProblem: Promise<string | null> = Promise.resolve(null);
    const server = {
      firstCredentials,
      catalogue: models.catalogue,
      compatibleProblem: () => compatibleProblem,
      stop: async () => {
        await operator.drain();
        await shutdown.run();
      },
      stopAtOnce: postgres.stop,
    };
    // Ends after the last request was answered, and begins when the first can be: none of it is needed for that.
    const undo = shutdown.undoLater();
    const startWork = async (internalUrl: string) => {
      computerParts.reachable(internalUrl, browserParts.hasBrowser);
      if (config.asksForModels) {
        const lists = keepAskingForModels(models, kernel.log);
        compatibleProblem = lists.compatibleProblem;
        undo(lists.stop);
      }
      const takesJobs = config.role === 'all' || config.role === 'worker';
      if (takesJobs) {
        await startJobs(kernel, { engine, modules, undo, tellFirst: shutdown.tellFirst });
      }
    };
    // The server listens before the app exists, since links in answers contain its port.
    const serveCaller: Hono['fetch'] = (request, env) =>
      servesCallers(config.role) ? app.get().fetch(request, env) : nobodyIsServed();
    const { url, internalUrl, close } = await listen((request, env) => {
      const ofProcess = computerParts.door.answer(request);
      return ofProcess ? ofProcess.then((answer) => answer ?? serveCaller(request, env)) : serveCaller(request, env);
    }, config);
    if (!servesCallers(config.role)) {
      shutdown.undo((options) => {
        routing.endStreams();
        return close(options);
      });
      await startWork(internalUrl);
      operator.started();
      return { ...server, url: null };
    }

    const streams = createStreams();
    const liveOf = async (ids: string[]) =>
      new Set([...(await liveKeys(db, ids)), ...(await liveSessions(db, ids)), ...(await liveGrants(db, ids))]);
    processNews.on('credential', (id) => {
      if (id === null) streams.endUnlessLive(liveOf).catch(streams.endAll);
      else streams.endCredential(id);
    });
    // A process that dies between a revocation and the news of it tells nobody.
    const lookForRevoked = setInterval(() => streams.endUnlessLive(liveOf).catch(() => {}), 30_000);
    shutdown.undo(() => clearInterval(lookForRevoked));
    voice.set(assembleVoice(kernel, { ...voiceParts, engine, followers, streams, processNews }));
    shutdown.undo(voice.get().stop);
    const keyUse = createKeyUse(db, log);
    shutdown.undo(() => keyUse.stop());
    shutdown.undo(async ({ graceMs }) => {
      streams.leave();
      routing.endStreams();
      const drained = setTimeout(streams.stop, Math.max(graceMs / 2, graceMs - lastEventsMs));
      await close({ graceMs });
      clearTimeout(drained);
    });
    kernel.publicUrl.set(config.publicUrl ?? url);
    noteAddress(config.dataDir, url, log);
    const { browsers } = browserParts;
    app.set(createServerApp(kernel, modules, { engine, browsers, streams, keyUse, operatorPages: operator.pages }));
    operator.started();
    // Whoever has been waiting is answered first.
    await nextTurn();
    await startWork(internalUrl);
    return { ...server, url };
  } catch (error) {
    await shutdown.run();
    throw error;
  }
}

const nobodyIsServed = () => new Response('Nobody is served here.\n', { status: 404 });

/** Runs jobs, restores lost ones, delivers webhooks and calls function endpoints. */
async function startJobs(
  kernel: Kernel,
  {
    engine,
    modules,
    undo,
    tellFirst,
  }: {
    engine: Engine;
    modules: readonly Registration[];
    undo: Shutdown['undo'];
    tellFirst: Shutdown['tellFirst'];
  },
): Promise<void> {
  const { config, db, vault, processNews, jobs, outbound, line, log, metrics } = kernel;
  await jobs.start();
  const worker = startWorker({ jobs, log, handlers: jobHandlers(kernel, modules), ended: metrics.jobEnded });
  undo(worker.stop);
  tellFirst(worker.takeNoMore);
  const sweeping = startSweeping({
    jobs,
    db,
    log,
    sources: sweepSources(modules),
    everyMs: config.runs.sweepEveryMs,
    found: metrics.takenOver,
  });
  undo(sweeping.stop);
  const delivering = await startDelivering({ db, vault, outbound, log, line, attempted: metrics.deliveryAttempted });
  undo(delivering.stop);
  undo(startServingEndpoints({ engine, vault, outbound, processNews }).stop);
}
