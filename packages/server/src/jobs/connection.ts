import pg from 'pg';
import type { Db } from 'pg-boss';
import type { Logger } from 'pino';
import { listen } from '../db/listen.ts';

/** What pg-boss works on: a small pool for its statements and, beside it, one connection that listens. */
export type QueueConnection = Db & Required<Pick<Db, 'listen'>> & { close(): Promise<void> };

export function openConnection(dependencies: {
  connectionString: string;
  max: number;
  log: Logger;
  /** A job of this queue can be taken. */
  onNotification: (queue: string) => void;
  /** The listener is (again) connected; what was notified before was missed. */
  onConnect: () => void;
}): QueueConnection {
  const { connectionString, max, log, onNotification, onConnect } = dependencies;
  const pool = new pg.Pool({
    connectionString,
    max,
    application_name: 'vestra jobs',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  });
  // Without these listeners a connection that the server closes ends the whole process.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));

  return {
    // `pool.query` drops the connection of a failed statement. It must: pg-boss sends BEGIN and COMMIT in one text, and
    // a failure between them leaves the transaction open.
    executeSql: (text, values) => pool.query(text, values),
    listen: (channel, tellBoss, tellBossConnected) =>
      listen({
        connectionString,
        channel,
        purpose: 'jobs',
        log,
        onMessage(queue) {
          tellBoss(queue);
          onNotification(queue);
        },
        onConnect() {
          tellBossConnected();
          onConnect();
        },
      }),
    close: () => pool.end(),
  };
}
