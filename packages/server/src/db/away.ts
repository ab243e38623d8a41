const awayCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  '57P01', // the server is being shut down
  '57P02',
  '57P03', // it is starting up
  '08000',
  '08003',
  '08006',
  '53300', // it has no connection left
  '55000', // the database takes no connections now
]);

const awayMessages = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'Client has encountered a connection error',
];

/** True where a query failed because no connection could be had, not because of what it asked. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: string }).code;
  if (code && awayCodes.has(code)) return true;
  if (awayMessages.some((message) => error.message.includes(message))) return true;
  return isDatabaseAway(error.cause);
}
