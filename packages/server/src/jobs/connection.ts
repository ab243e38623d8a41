import pg from 'pg';
import type { Db } from 'pg-boss';
import type { Line } from '../db/listen.ts';

/** What pg-boss works on: a small pool for its statements and, beside it, one connection that listens. */
export type QueueConnection = Db & Required<Pick<Db, 'listen'>> & { close(): Promise<void> };

export function openConnection(dependencies: {
  connectionString: string;
  line: Line;
  max: number;
  /** A job of this queue can be taken. */
  onNotification: (queue: string) => void;
  /** The listener is (again) connected; what was notified before was missed. */
  onConnect: () => void;
}): QueueConnection {
  const { connectionString, line, max, onNotification, onConnect } = dependencies;
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
    listen: async (channel, tellBoss, tellBossConnected) => {
      await line.hear(channel, {
        onMessage(queue) {
          tellBoss(queue);
          onNotification(queue);
        },
        onConnect() {
          tellBossConnected();
          onConnect();
        },
      });
      return { close: async () => {} };
    },
    close: () => pool.end(),
  };
}
