import type { Logger } from 'pino';
import { NotThePrimary } from './primary-check.ts';

/** After a failover a connection may still lead to a server that is now a standby. */
const readOnlyCode = '25006';

const unreachableCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  '57P01', // the server is shutting down
  '57P02',
  '57P03', // the server is starting up
  '57P05',
  '08000',
  '08001',
  '08003',
  '08004',
  '08006',
  '53100', // disk full
  '53200', // out of memory
  '53300', // too many connections
  '55000', // the database accepts no connections
  readOnlyCode,
]);

const unreachableMessages = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'Client has encountered a connection error',
];

/** True if a write failed because the server accepts no writes, as a standby does. */
export function isReadOnlyDatabase(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof NotThePrimary) return true;
  return (error as { code?: string }).code === readOnlyCode || isReadOnlyDatabase(error.cause);
}

/** True if a query failed because no usable database was reachable, and not because of the query. */
export function isDatabaseUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // Several pieces of work failed, each with its own error.
  if (error instanceof AggregateError && error.errors.length > 0 && error.errors.every(isDatabaseUnreachable))
    return true;
  const code = (error as { code?: string }).code;
  if (code && unreachableCodes.has(code)) return true;
  if (unreachableMessages.some((message) => error.message.includes(message))) return true;
  return isDatabaseUnreachable(error.cause);
}

/** Logs an outage once and its end once, however many queries fail in between. */
export type OutageLog = { failed: (error: Error) => void; connected: () => void };

export function createOutageLog(log: Logger | undefined): OutageLog {
  let unreachableSince: number | null = null;
  return {
    failed(error) {
      // A timeout while all connections are busy does not mean that the database is unreachable.
      if (unreachableSince !== null || !isDatabaseUnreachable(error) || error.message.startsWith('timeout exceeded'))
        return;
      unreachableSince = performance.now();
      log?.warn({ reason: error.message }, 'the database is unreachable; waiting for it');
    },
    connected() {
      if (unreachableSince === null) return;
      log?.warn({ awayMs: Math.round(performance.now() - unreachableSince) }, 'the database is reachable again');
      unreachableSince = null;
    },
  };
}
