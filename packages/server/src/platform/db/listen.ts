import pg from 'pg';
import type { Logger } from 'pino';

/** The one connection of a process on which it hears what others notify, on any number of channels. */
export type Line = {
  /** Resolves when the channel is listened to, or when the line is down and will listen to it once it is up again. */
  hear: (channel: string, hearer: Hearer) => Promise<void>;
  close: () => Promise<void>;
};

type Hearer = {
  onMessage: (payload: string) => void;
  /** The channel is (again) listened to: what was notified before was missed. */
  onConnect: () => void;
  /** From now on nothing is heard. */
  onLoss?: () => void;
};

const pingEveryMs = 10_000;
const pingWithinMs = 5_000;
const longestPauseMs = 10_000;

/** Listens until closed: a connection that ends, or stays silent, is replaced for as long as it takes. */
export async function openLine({ connectionString, log }: { connectionString: string; log: Logger }): Promise<Line> {
  const hearers = new Map<string, Hearer>();
  let isClosed = false;
  let isUp = false;
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;

  await connect();
  return {
    async hear(channel, hearer) {
      if (hearers.has(channel)) throw new Error(`The channel ${channel} is heard already.`);
      hearers.set(channel, hearer);
      const current = client;
      // A line that is being opened listens to what has been asked for by then.
      if (!isUp || !current) return;
      try {
        await listenTo(current, channel);
      } catch (error) {
        return replace(current, error);
      }
      if (client === current && !isClosed) hearer.onConnect();
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await client?.end().catch(() => {});
    },
  };

  async function connect(): Promise<void> {
    const next = new pg.Client({
      connectionString,
      application_name: 'vestra listener',
      connectionTimeoutMillis: 10_000,
      // A peer that vanished sends no end: without a bound the ping below would wait for ever.
      query_timeout: pingWithinMs,
      keepAlive: true,
    });
    client = next;
    next.on('error', (error) => replace(next, error));
    next.on('end', () => replace(next, new Error('The connection ended.')));
    next.on('notification', ({ channel, payload }) => hearers.get(channel)?.onMessage(payload ?? ''));
    try {
      await next.connect();
      // Those that are added meanwhile come at the end of the same walk.
      for (const channel of hearers.keys()) await listenTo(next, channel);
    } catch (error) {
      return replace(next, error);
    }
    if (client !== next || isClosed) return;
    isUp = true;
    failures = 0;
    timer = setTimeout(() => ping(next), pingEveryMs);
    for (const hearer of hearers.values()) hearer.onConnect();
  }

  async function listenTo(target: pg.Client, channel: string): Promise<void> {
    await target.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
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
    if (isUp) for (const hearer of hearers.values()) hearer.onLoss?.();
    isUp = false;
    const pauseMs = Math.min(longestPauseMs, 250 * 2 ** failures++);
    log.warn({ err: error, pauseMs }, 'the connection that listens for notifications was lost; it is opened again');
    timer = setTimeout(() => void connect(), pauseMs);
  }
}
