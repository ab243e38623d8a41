import { styleText } from 'node:util';
import type pino from 'pino';

/** For a person at a terminal: a line of the log as time, level, sentence and facts. Whatever reads the log elsewhere gets JSON. */
export function readableLog(to: pino.DestinationStream): pino.DestinationStream {
  return { write: (line) => to.write(readableLine(line)) };
}

function readableLine(line: string): string {
  const facts = factsIn(line);
  if (facts === null) return line;
  const { level, time, msg, err, ...others } = facts;
  const paint = colours[String(level)] ?? 'dim';
  const told = Object.entries(others).map(([name, value]) => `${name}=${inOneLine(value)}`);
  const head = [
    styleText('dim', String(time).slice(11, 19)),
    styleText(paint, String(level).padEnd(5)),
    inOneLine(msg ?? ''),
    styleText('dim', told.join(' ')),
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

/** Without what a terminal would obey: some facts are words that came from elsewhere. */
function inOneLine(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.replace(/\p{Cc}+/gu, ' ');
}

function readableError(err: unknown): string {
  const { name, message, sqlstate, stack, cause } = err as Facts;
  const frames = typeof stack === 'string' ? stack.split('\n').map((frame) => `  ${inOneLine(frame.trim())}\n`) : [];
  const head = [name, sqlstate, message].filter((word) => word !== undefined).map(inOneLine);
  return `  ${head.join(' ')}\n${styleText('dim', frames.join(''))}${cause === undefined ? '' : readableError(cause)}`;
}
