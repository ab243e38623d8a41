import type { Logger } from 'pino';
import { isDatabaseAway } from './away.ts';

/** Says once that the database is away and once that it is back, however many queries fail in between. */
export type OutageLog = { failed: (error: Error) => void; connected: () => void };

export function createOutageLog(log: Logger | undefined): OutageLog {
  let awaySince: number | null = null;
  return {
    failed(error) {
      // That every connection is busy says nothing of the database.
      if (awaySince !== null || !isDatabaseAway(error) || error.message.startsWith('timeout exceeded')) return;
      awaySince = performance.now();
      log?.warn({ reason: error.message }, 'the database is away: it is waited for');
    },
    connected() {
      if (awaySince === null) return;
      log?.warn({ awayMs: Math.round(performance.now() - awaySince) }, 'the database is back');
      awaySince = null;
    },
  };
}
