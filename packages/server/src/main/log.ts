import { styleText } from 'node:util';
import pino, { type Logger } from 'pino';
import { sqlState } from '../platform/db/sql.ts';
import { isDatabaseUnreachable } from '../platform/db/unreachable.ts';

/**
 * Writes one JSON line per event, or a readable line on a terminal.
 *
 * Bodies, headers and queries of requests are never logged. Errors are logged by class, SQLSTATE, constraint and stack
 * frames, because the message of a failed statement contains its values.
 *
 * While the database is unreachable, every query fails. db/outage-log.ts logs the outage once, so the failures it
 * causes are logged at level debug.
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
          if (level > debugLevel && isCausedByOutage(facts[0])) return this.debug(...facts);
          return write.apply(this, facts);
        },
      },
    },
    to,
  );
}

/** If the reader of standard output is gone, drop the lines: retrying each one would block the server. */
function standardOutput(): pino.DestinationStream {
  const output = pino.destination({ fd: 1, sync: false });
  const nothing = () => {};
  output.on('error', () => Object.assign(output, { write: nothing, end: nothing, flushSync: nothing }));
  return process.stdout.isTTY ? readableLog(output) : output;
}

const debugLevel = pino.levels.values.debug ?? 0;

const isCausedByOutage = (facts: unknown) =>
  typeof facts === 'object' && facts !== null && 'err' in facts && isDatabaseUnreachable(facts.err);

function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { name: typeof error };
  const state = sqlState(error);
  const { constraint } = error as { constraint?: string };
  const frames = error.stack?.split('\n').filter((line) => line.startsWith('    at ')) ?? [];
  return {
    name: error.name,
    ...(state ? { sqlstate: state, ...(constraint && { constraint }) } : { message: error.message }),
    stack: frames.slice(0, 12).join('\n'),
    ...(error.cause ? { cause: describeError(error.cause) } : {}),
  };
}

/** Formats log lines for a terminal: time, level, message and fields. */
export function readableLog(to: pino.DestinationStream): pino.DestinationStream {
  return { write: (line) => to.write(readableLine(line)) };
}

function readableLine(line: string): string {
  const facts = factsIn(line);
  if (facts === null) return line;
  const { level, time, msg, err, ...others } = facts;
  const paint = colours[String(level)] ?? 'dim';
  const fields = Object.entries(others).map(([name, value]) => `${name}=${withoutControlCharacters(value)}`);
  const head = [
    styleText('dim', String(time).slice(11, 19)),
    styleText(paint, String(level).padEnd(5)),
    withoutControlCharacters(msg ?? ''),
    styleText('dim', fields.join(' ')),
  ];
  return `${head.join(' ').trimEnd()}\n${err === undefined ? '' : readableError(err)}`;
}

type Facts = Record<string, unknown>;

const colours: Readonly<Record<string, 'dim' | 'yellow' | 'red'>> = { warn: 'yellow', error: 'red', fatal: 'red' };

function factsIn(line: string): Facts | null {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** Removes control characters, because some fields contain text from outside and a terminal would obey them. */
function withoutControlCharacters(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.replace(/\p{Cc}+/gu, ' ');
}

function readableError(err: unknown): string {
  const { name, message, sqlstate, stack, cause } = err as Facts;
  const frames =
    typeof stack === 'string' ? stack.split('\n').map((frame) => `  ${withoutControlCharacters(frame.trim())}\n`) : [];
  const head = [name, sqlstate, message].filter((word) => word !== undefined).map(withoutControlCharacters);
  return `  ${head.join(' ')}\n${styleText('dim', frames.join(''))}${cause === undefined ? '' : readableError(cause)}`;
}
