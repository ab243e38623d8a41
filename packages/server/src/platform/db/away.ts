import { setTimeout as sleep } from 'node:timers/promises';
import { NotThePrimary } from './primary-check.ts';

/** After a failover a connection may still lead to what is a standby now. */
const readOnlyCode = '25006';

const awayCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  '57P01', // the server is being shut down
  '57P02',
  '57P03', // it is starting up
  '57P05',
  '08000',
  '08001',
  '08003',
  '08004',
  '08006',
  '53100', // its disk is full
  '53200', // it has no memory left
  '53300', // it has no connection left
  '55000', // the database takes no connections now
  readOnlyCode,
]);

const awayMessages = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'Client has encountered a connection error',
];

/** True where a write failed because this database takes none, as a standby and one without room do. */
export function isReadOnlyDatabase(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof NotThePrimary) return true;
  return (error as { code?: string }).code === readOnlyCode || isReadOnlyDatabase(error.cause);
}

/** True where a query failed because no database that takes it could be had, not because of what it asked. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: string }).code;
  if (code && awayCodes.has(code)) return true;
  if (awayMessages.some((message) => error.message.includes(message))) return true;
  return isDatabaseAway(error.cause);
}

/** For so long a server that starts waits for a database that is there and not ready, as during a failover. */
export const startPatienceMs = 60_000;

/** What a server reads and makes when it starts, done again while the database is away: only what may be done twice. */
export async function untilThere<Result>(work: () => Promise<Result>): Promise<Result> {
  const until = performance.now() + startPatienceMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isDatabaseAway(error) || performance.now() > until) throw error;
    }
    await sleep(500);
  }
}
