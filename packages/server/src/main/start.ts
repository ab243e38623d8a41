import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { routes } from '@vestra/contract/api';
import type { Catalogue } from '@vestra/models/catalogue/catalogue';
import type { Models } from '@vestra/models/models';
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
import { createLazyRef } from '../platform/kernel.ts';
import type { Registration } from '../platform/registration.ts';
import { createWatchdog } from '../platform/watchdog/watchdog.ts';
import type { VoiceCalls } from '../voice/calls.ts';
import { createServerApp } from './app.ts';
import { assembleBrowsers, assembleComputers } from './computers.ts';
import { assembleEngine } from './engine.ts';
import { assembleOperator } from './health-and-metrics.ts';
import { listen } from './http-server.ts';
import { createKernel, type Kernel } from './kernel.ts';
import { type StartingPostgres, startPostgres } from './postgres.ts';
import { type Credentials, storeAddress } from './provisioning.ts';
import { jobHandlers, preparePartitions, registrationsOf, sweepSources } from './registrations.ts';
import { createShutdown, type Shutdown } from './shutdown.ts';
import { assembleVoice, createVoiceParts, type VoiceParts } from './voice.ts';

export type Server = {
  /** Null for a process that serves no API. */
  url: string | null;
  firstCredentials: Credentials | null;
  catalogue: Catalogue;
  /** The reason why the compatible endpoint lists no model; null if it lists some or was not asked. */
  compatibleProblem: () => Promise<string | null>;
  /** Lets runs and requests finish, up to the grace period. */
  stop: () => Promise<void>;
  /** Stops only the embedded database. Interrupted runs continue at the next start. */
  stopAtOnce: () => Promise<void>;
};

/** The part of the grace period in which clients can read the last event of their streams. */
const lastEventsMs = 2_000;

/** Starts everything in one process, in the order of dependency. */
export async function startServer(
  config: Config,
  log: Logger,
  begun: Pick<StartingPostgres, 'reached'> = startPostgres(config, log),
  voiceParts: VoiceParts = createVoiceParts(config),
): Promise<Server> {
  const shutdown = createShutdown({ graceMs: config.stopMs });
  try {
    const postgres = await begun.reached;
    shutdown.undo(postgres.stop);
    const { db, connectionString } = postgres;
    shutdown.undo(() => closeDatabase(db));
    let operatorFetch = starting;
    if (config.operatorPort !== null) {
      const { close } = await listen((...given) => operatorFetch(...given), { ...config, port: config.operatorPort });
      shutdown.undo(close);
    }
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
      sharing,
      stop: stopEngine,
    } = assembleEngine(kernel, {
      computerWork,
      browsers: browserParts.taskBrowsers,
    });
    shutdown.undo(stopEngine);
    shutdown.notifyFirst(engine.runner.leave);
    shutdown.notifyFirst(() =>
      computerParts.leave(({ orgId, mode, userId }) =>
        engine.runner.hasRunOf({ org_id: orgId, mode, user_id: userId }),
      ),
    );
    const watchdog = createWatchdog({ routes: routes.map(({ name }) => name), endAfterMs: config.watchdogMs });
    shutdown.undo(watchdog.stop);
    const operator = assembleOperator(kernel, {
      engine,
      computers,
      watchdog,
      countBrowsers: browserParts.countRunning,
    });
    operatorFetch = operator.app().fetch;
    const app = createLazyRef<Hono>('the app');
    const voice = createLazyRef<VoiceCalls>('the voice calls');
    const modules = registrationsOf(kernel, {
      engine,
      followers,
      sharing,
      computers,
      computerWork,
      browsers: browserParts.browsers,
      voice: voice.get,
      answer: (request, callerAddress) => app.get().fetch(request, { callerAddress }),
      health: operator.health,
      operatorPages: operator.pages,
    });
    await preparePartitions(kernel, modules);
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
    // This work stops after the last request and starts after the first can be answered.
    const undo = shutdown.undoLater();
    const startWork = async (internalUrl: string) => {
      computerParts.reachable(internalUrl, browserParts.hasBrowser);
      if (config.asksForModels) {
        const lists = refreshModelLists(models, kernel.log);
        compatibleProblem = lists.compatibleProblem;
        undo(lists.stop);
      }
      watchdog.start();
      const takesJobs = config.role === 'all' || config.role === 'worker';
      if (takesJobs) {
        await startJobs(kernel, { engine, modules, undo, notifyFirst: shutdown.notifyFirst });
      }
    };
    // Listen before the app exists, because links in responses contain the port.
    const serveCaller: Hono['fetch'] = (request, env) =>
      servesCallers(config.role) ? app.get().fetch(request, env) : noApiHere();
    const serve: Hono['fetch'] = (request, env) => {
      const ofProcess = computerParts.processCalls.answer(request);
      return ofProcess ? ofProcess.then((answer) => answer ?? serveCaller(request, env)) : serveCaller(request, env);
    };
    const { url, internalUrl, close } = await listen(serve, config, operator.isDraining);
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
    // If a process dies between a revocation and its notification, no stream is closed. This check closes them.
    const lookForRevoked = setInterval(() => streams.endUnlessLive(liveOf).catch(() => {}), 30_000);
    shutdown.undo(() => clearInterval(lookForRevoked));
    voice.set(assembleVoice(kernel, { ...voiceParts, engine, followers, streams, processNews }));
    shutdown.undo(voice.get().stop);
    const keyUse = createKeyUse(db, log);
    shutdown.undo(() => keyUse.stop());
    shutdown.undo(async ({ graceMs }) => {
      streams.leave({ withinMs: graceMs / 2 });
      routing.endStreams();
      const drained = setTimeout(streams.stop, Math.max(graceMs / 2, graceMs - lastEventsMs));
      await close({ graceMs });
      await streams.whenEmpty();
      clearTimeout(drained);
    });
    kernel.publicUrl.set(config.publicUrl ?? url);
    storeAddress(config.dataDir, url, log);
    app.set(createServerApp(kernel, modules, { engine, streams, keyUse, watchdog }));
    operator.started();
    // Answer the waiting requests first.
    await nextTurn();
    await startWork(internalUrl);
    return { ...server, url };
  } catch (error) {
    await shutdown.run();
    throw error;
  }
}

/**
 * A migration may build an index for an hour. The process must be live meanwhile, or Kubernetes would kill it and the
 * build would begin again.
 */
const starting: Hono['fetch'] = (request) =>
  new URL(request.url).pathname === '/health/live'
    ? Response.json({ status: 'live' })
    : Response.json(
        { status: 'not_ready', checks: { server: { status: 'failing', message: 'The server is starting.' } } },
        { status: 503 },
      );

const noApiHere = () => new Response('This process serves no requests.\n', { status: 404 });

/** Runs jobs, recovers lost ones, delivers webhooks and calls function endpoints. */
async function startJobs(
  kernel: Kernel,
  {
    engine,
    modules,
    undo,
    notifyFirst,
  }: {
    engine: Engine;
    modules: readonly Registration[];
    undo: Shutdown['undo'];
    notifyFirst: Shutdown['notifyFirst'];
  },
): Promise<void> {
  const { config, db, vault, processNews, jobs, outbound, line, log, metrics } = kernel;
  await jobs.start();
  const worker = startWorker({ jobs, log, handlers: jobHandlers(kernel, modules), ended: metrics.jobEnded });
  undo(worker.stop);
  notifyFirst(worker.takeNoMore);
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

const everyMs = 6 * 3_600_000;
const firstRetryMs = 1_000;
const maxRetryMs = 15_000;

type ModelLists = {
  /** The reason why the compatible endpoint lists no model, known after the first request; null if it lists some. */
  compatibleProblem: Promise<string | null>;
  stop: () => Promise<void>;
};

/**
 * Asks the vendors for their models in the background, now and every six hours. A compatible endpoint without models is
 * asked again soon: it often starts after this server, and the default model may be one of its models.
 */
function refreshModelLists({ askVendors, catalogue }: Models, log: Logger): ModelLists {
  const stopping = new AbortController();
  const { signal } = stopping;
  const ask = async (only?: 'compatible') => (await askVendors(signal, only)).get('compatible') ?? null;

  async function askUntilListed(first: string | null): Promise<void> {
    let problem = first;
    for (let pauseMs = firstRetryMs; problem !== null; pauseMs = Math.min(pauseMs * 2, maxRetryMs)) {
      await delay(pauseMs, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      problem = await ask('compatible');
      if (problem === null) log.info({ default_model: catalogue.defaultModel }, 'the compatible endpoint lists models');
    }
  }

  const first = ask();
  const untilListed = first.then(askUntilListed);
  let asking: Promise<unknown> = first;
  const timer = setInterval(() => {
    asking = ask();
  }, everyMs).unref();
  return {
    compatibleProblem: first,
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await Promise.all([asking, untilListed]);
    },
  };
}
