import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Config, readConfig } from '../platform/config/config.ts';
import { StartFailure } from '../platform/db/start-failure.ts';
import { beginPostgres } from './begin-postgres.ts';
import { takeEnvFile } from './env-file.ts';
import { createLog } from './log.ts';
import type { Server } from './start.ts';

/** Starts the server and keeps it until it is told to stop. */
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
  takeEnvFile();
  const config = readConfig(process.env);
  const log = createLog(config.logLevel);
  const starting = start(config, log);
  onStop({
    // A server that is told to stop while it starts first finishes that: half a start leaves a database behind.
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
  // Whoever started it may have gone away, as `npm start | head` does.
  process.stdout.on('error', () => {});
  const server = await starting;
  // A promise that one request leaves behind must not end the process, and with it the requests of every org.
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'));
  const { welcome } = await import('./welcome.ts');
  const compatibleProblem = await problemInTime(server);
  process.stdout.write(welcome(config, server, { compatibleProblem, isTerminal: process.stdout.isTTY === true }));
}

const longestWaitForListMs = 2_000;

/** The server already answers. Only its first words wait for the list of models, since they name the default. */
async function problemInTime({ compatibleProblem }: Server): Promise<string | null> {
  const late = delay(longestWaitForListMs, 'has not answered yet', { ref: false });
  return Promise.race([compatibleProblem(), late]);
}

/** Nearly all of the server's code comes with `start.ts`: PostgreSQL starts while it is read. */
async function start(config: Config, log: Logger): Promise<Server> {
  const postgres = beginPostgres(config, log);
  await postgres.isElsewhere;
  const { startServer } = await import('./start.ts');
  return startServer(config, log, postgres);
}

/** npm and a terminal both pass one ctrl-C on, so that two signals this close together are one wish. */
const sameWishMs = 1_000;

/** The first wish stops gently, the second at once, and a third one whatever hangs. */
function onStop(stop: { gently: (signal: NodeJS.Signals) => Promise<void>; now: () => Promise<void> }): void {
  let wishes = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  const hear = (signal: NodeJS.Signals) => {
    if (performance.now() - lastAt < sameWishMs) return;
    lastAt = performance.now();
    wishes += 1;
    if (wishes === 1) stop.gently(signal).catch((error) => wishes === 1 && fail(error));
    if (wishes === 2) stop.now().catch(fail);
    if (wishes === 3) process.exit(130);
  };
  // SIGHUP is what a terminal sends when its window is closed.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, hear);
  onLossOfNpm(() => hear('SIGTERM'));
}

const lookEveryMs = 1_000;

/** npm passes on what it is told. Killed, it tells nobody, and the server would go on behind the back of whoever started it. */
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
  // What kept the start from succeeding is told where the start is awaited.
  if (error instanceof StartFailure) return;
  process.stderr.write(`${error}\n`);
  process.exit(1);
}
