import pg from 'pg';
import type { Logger } from 'pino';

/** The one connection of a process that receives notifications, on any number of channels. */
export type NotifyListener = {
  /** Resolves when LISTEN has run. If the connection is down, it resolves at once and LISTEN runs after the reconnect. */
  hear: (channel: string, listener: ChannelListener) => Promise<void>;
  close: () => Promise<void>;
};

type ChannelListener = {
  onMessage: (payload: string) => void;
  /** Called after each LISTEN. Notifications before it were missed. */
  onConnect: () => void;
  /** The connection is lost, and no notifications arrive until `onConnect`. */
  onLoss?: () => void;
};

const pingEveryMs = 10_000;
const pingWithinMs = 5_000;
const maxPauseMs = 10_000;

/** Listens until closed. Replaces a connection that ends or stops answering, and retries without limit. */
export async function openNotifyListener({
  connectionString,
  log,
}: {
  connectionString: string;
  log: Logger;
}): Promise<NotifyListener> {
  const listeners = new Map<string, ChannelListener>();
  let isClosed = false;
  let isUp = false;
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;

  await connect();
  return {
    async hear(channel, listener) {
      if (listeners.has(channel)) throw new Error(`The channel ${channel} already has a listener.`);
      listeners.set(channel, listener);
      const current = client;
      // A connection that is being opened listens to all channels that were added until then.
      if (!isUp || !current) return;
      try {
        await listenTo(current, channel);
      } catch (error) {
        return replace(current, error);
      }
      if (client === current && !isClosed) listener.onConnect();
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
      // A peer that vanished closes nothing: without a timeout the ping below would wait forever.
      query_timeout: pingWithinMs,
      keepAlive: true,
    });
    client = next;
    next.on('error', (error) => replace(next, error));
    next.on('end', () => replace(next, new Error('The connection ended.')));
    next.on('notification', ({ channel, payload }) => listeners.get(channel)?.onMessage(payload ?? ''));
    try {
      await next.connect();
      // A Map iterator also visits channels that are added meanwhile.
      for (const channel of listeners.keys()) await listenTo(next, channel);
    } catch (error) {
      return replace(next, error);
    }
    if (client !== next || isClosed) return;
    isUp = true;
    failures = 0;
    timer = setTimeout(() => ping(next), pingEveryMs);
    for (const listener of listeners.values()) listener.onConnect();
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
    if (isUp) for (const listener of listeners.values()) listener.onLoss?.();
    isUp = false;
    const pauseMs = Math.min(maxPauseMs, 250 * 2 ** failures++);
    log.warn({ err: error, pauseMs }, 'lost the connection that listens for notifications; reconnecting');
    timer = setTimeout(() => void connect(), pauseMs);
  }
}
