import pg from 'pg';
import type { Logger } from 'pino';

const pingEveryMs = 10_000;
const pingWithinMs = 5_000;
const longestPauseMs = 10_000;

/** Listens until closed: a connection that ends, or stays silent, is replaced for as long as it takes. */
export async function listen(dependencies: {
  connectionString: string;
  channel: string;
  /** What is listened for, in a word. */
  purpose: string;
  log: Logger;
  onMessage: (payload: string) => void;
  onConnect: () => void;
}): Promise<{ close(): Promise<void> }> {
  const { connectionString, channel, purpose, log, onMessage, onConnect } = dependencies;
  let isClosed = false;
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;

  await connect();
  return {
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await client?.end().catch(() => {});
    },
  };

  async function connect(): Promise<void> {
    const next = new pg.Client({
      connectionString,
      application_name: `vestra ${purpose} listener`,
      connectionTimeoutMillis: 10_000,
      // A peer that vanished sends no end: without a bound the ping below would wait for ever.
      query_timeout: pingWithinMs,
      keepAlive: true,
    });
    client = next;
    next.on('error', (error) => replace(next, error));
    next.on('end', () => replace(next, new Error('The connection ended.')));
    next.on('notification', (message) => onMessage(message.payload ?? ''));
    try {
      await next.connect();
      await next.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
    } catch (error) {
      replace(next, error);
      return;
    }
    if (client !== next || isClosed) return;
    failures = 0;
    timer = setTimeout(() => ping(next), pingEveryMs);
    onConnect();
  }

  function ping(target: pg.Client): void {
    target
      .query('SELECT 1')
      .then(() => {
        if (client === target && !isClosed) timer = setTimeout(() => ping(target), pingEveryMs);
      })
      .catch((error: unknown) => replace(target, error));
  }

  function replace(target: pg.Client, error: unknown): void {
    if (isClosed || client !== target) return;
    client = undefined;
    clearTimeout(timer);
    target.end().catch(() => {});
    const pauseMs = Math.min(longestPauseMs, 250 * 2 ** failures++);
    log.warn({ err: error, pauseMs }, `the connection that listens for ${purpose} was lost; it is opened again`);
    timer = setTimeout(() => void connect(), pauseMs);
  }
}
