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
  '25006', // it is a standby now, and takes no writes
]);

const awayMessages = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'Client has encountered a connection error',
];

/** True where a query failed because no database that takes it could be had, not because of what it asked. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: string }).code;
  if (code && awayCodes.has(code)) return true;
  if (awayMessages.some((message) => error.message.includes(message))) return true;
  return isDatabaseAway(error.cause);
}
