import { readConfig } from './config.ts';
import { StartFailure } from './db/start-failure.ts';
import { createLog } from './log.ts';
import { startServer } from './start.ts';
import { welcome } from './welcome.ts';

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
  const config = readConfig(process.env);
  const log = createLog(config.logLevel);
  const server = await startServer(config, log);
  process.stdout.write(welcome(config, server));

  let isStopping = false;
  const stop = async (signal: NodeJS.Signals) => {
    // A second ctrl-C means now.
    if (isStopping) process.exit(130);
    isStopping = true;
    log.info({ signal }, 'stopping');
    await server.stop();
    process.exit(0);
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
}
