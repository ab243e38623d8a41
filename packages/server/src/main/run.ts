import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Config, readConfig } from '../platform/config/config.ts';
import { loadEnvFile } from '../platform/config/settings-files.ts';
import { StartFailure } from '../platform/db/start-failure.ts';
import { createLog } from './log.ts';
import { assertPortIsFree } from './port.ts';
import { startPostgres } from './postgres.ts';
import type { Server } from './start.ts';

/** Starts the server and runs until a signal stops it. */
export async function run(): Promise<void> {
  try {
    await startAndStay();
  } catch (error) {
    if (!(error instanceof StartFailure)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

async function startAndStay(): Promise<void> {
  loadEnvFile();
  const config = readConfig(process.env);
  const log = createLog(config.logLevel);
  const starting = start(config, log);
  onStop({
    // Finish the start before stopping: an aborted start would leave a database running.
    gently: async (signal) => {
      const server = await starting;
      log.info({ signal }, 'stopping');
      await server.stop();
      process.exit(0);
    },
    now: async () => {
      const server = await starting;
      log.info('stopping at once');
      await server.stopAtOnce();
      process.exit(130);
    },
  });
  // The reader of standard output may be gone, as with `npm start | head`.
  process.stdout.on('error', () => {});
  const server = await starting;
  // A rejected promise of one request must not end the process, and with it the requests of every org.
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'));
  const { welcome } = await import('./welcome.ts');
  const compatibleProblem = await problemInTime(server);
  process.stdout.write(welcome(config, server, { compatibleProblem, isTerminal: process.stdout.isTTY === true }));
}

const maxWaitForListMs = 2_000;

/** The server already answers. Only the welcome text waits for the list of models, because it names the default. */
async function problemInTime({ compatibleProblem }: Server): Promise<string | null> {
  const late = delay(maxWaitForListMs, 'has not answered yet', { ref: false });
  return Promise.race([compatibleProblem(), late]);
}

/** `start.ts` imports nearly all of the server's code. PostgreSQL starts while Node reads it. */
async function start(config: Config, log: Logger): Promise<Server> {
  await assertPortIsFree(config);
  const postgres = startPostgres(config, log);
  await postgres.isElsewhere;
  const { startServer } = await import('./start.ts');
  return startServer(config, log, postgres);
}

/** npm and a terminal both forward one ctrl-C, so signals this close together count once. */
const sameSignalMs = 1_000;

/** The first signal stops gracefully, the second at once, and the third exits even if something hangs. */
function onStop(stop: { gently: (signal: NodeJS.Signals) => Promise<void>; now: () => Promise<void> }): void {
  let signals = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  const onSignal = (signal: NodeJS.Signals) => {
    if (performance.now() - lastAt < sameSignalMs) return;
    lastAt = performance.now();
    signals += 1;
    if (signals === 1) stop.gently(signal).catch((error) => signals === 1 && fail(error));
    if (signals === 2) stop.now().catch(fail);
    if (signals === 3) process.exit(130);
  };
  // A terminal sends SIGHUP when its window is closed.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  onLossOfNpm(() => onSignal('SIGTERM'));
}

const lookEveryMs = 1_000;

/**
 * npm forwards signals but not its own SIGKILL. Without this check the server would keep running after npm was killed.
 */
function onLossOfNpm(end: () => void): void {
  if (process.env.npm_lifecycle_event !== 'start') return;
  const npm = process.ppid;
  const looking = setInterval(() => {
    if (process.ppid === npm) return;
    clearInterval(looking);
    end();
  }, lookEveryMs);
  looking.unref();
}

function fail(error: unknown): void {
  // `run` reports this error, where it awaits the start.
  if (error instanceof StartFailure) return;
  process.stderr.write(`${error}\n`);
  process.exit(1);
}
