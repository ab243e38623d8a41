import type { Readable } from 'node:stream';
import { styleText } from 'node:util';

export type Paint = (format: Parameters<typeof styleText>[0], text: string) => string;

/** The environment of a command. Tests supply their own. */
export type Terminal = {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  stdin: Readable;
  /** Whether a user can be asked: both input and output are a terminal. */
  isInteractive: boolean;
  /** The width of the terminal; null if the output is a file or a pipe. */
  columns: number | null;
  out: (content: string | Uint8Array) => void;
  err: (text: string) => void;
  /** Styles for `out` and `err`: none without a terminal or with NO_COLOR. */
  paint: Paint;
  paintError: Paint;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
};

export function processTerminal(signal: AbortSignal): Terminal {
  const { stdin, stdout, stderr, env } = process;
  return {
    env,
    cwd: process.cwd(),
    stdin,
    isInteractive: Boolean(stdin.isTTY && stdout.isTTY && stderr.isTTY),
    columns: stdout.isTTY ? stdout.columns : null,
    out: (content) => void stdout.write(content),
    err: (text) => void stderr.write(text),
    paint: painter(Boolean(stdout.isTTY), env),
    paintError: painter(Boolean(stderr.isTTY), env),
    signal,
  };
}

export function painter(isTerminal: boolean, env: Terminal['env']): Paint {
  const isColoured = isTerminal && !env.NO_COLOR && env.TERM !== 'dumb';
  return (format, text) => (isColoured ? styleText(format, text, { validateStream: false }) : text);
}
