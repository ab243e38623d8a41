import pino, { type Logger } from 'pino';
import { sqlState } from '../platform/db/sql.ts';
import { isDatabaseAway } from '../platform/db/unreachable.ts';
import { readableLog } from './readable-log.ts';

/**
 * One JSON line per event, which a terminal is shown as a sentence. Nothing that came in with a request is ever logged: no body, no header, no
 * query. Errors are shown by class, SQLSTATE and stack frames, because the message of a failed
 * statement carries its values. While the database is away everything that asks it fails again and again: that it is
 * away is said once (db/outage-log.ts), and what failed by it is for whoever debugs.
 */
export function createLog(level: string, to: pino.DestinationStream = standardOutput()): Logger {
  return pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
      hooks: {
        logMethod(facts, write, level) {
          if (level > debugLevel && isOfOutage(facts[0])) return this.debug(...facts);
          return write.apply(this, facts);
        },
      },
    },
    to,
  );
}

/** When the terminal or the reader behind it is gone, lines are lost: to try each again for ever would hold up the server. */
function standardOutput(): pino.DestinationStream {
  const output = pino.destination({ fd: 1, sync: false });
  const nothing = () => {};
  output.on('error', () => Object.assign(output, { write: nothing, end: nothing, flushSync: nothing }));
  return process.stdout.isTTY ? readableLog(output) : output;
}

const debugLevel = pino.levels.values.debug ?? 0;

const isOfOutage = (facts: unknown) =>
  typeof facts === 'object' && facts !== null && 'err' in facts && isDatabaseAway(facts.err);

function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { name: typeof error };
  const state = sqlState(error);
  const frames = error.stack?.split('\n').filter((line) => line.startsWith('    at ')) ?? [];
  return {
    name: error.name,
    ...(state ? { sqlstate: state } : { message: error.message }),
    stack: frames.slice(0, 12).join('\n'),
    ...(error.cause ? { cause: describeError(error.cause) } : {}),
  };
}
