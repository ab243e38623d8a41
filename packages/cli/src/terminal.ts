import type { Readable } from 'node:stream';
import { styleText } from 'node:util';

export type Paint = (format: Parameters<typeof styleText>[0], text: string) => string;

/** Everything a command knows of the place it runs in; tests give one of their own. */
export type Terminal = {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  stdin: Readable;
  /** Whether a person is there to be asked: both what is typed and what is shown go through a terminal. */
  isInteractive: boolean;
  /** The width of the terminal; null where the output goes into a file or a pipe. */
  columns: number | null;
  out: (content: string | Uint8Array) => void;
  err: (text: string) => void;
  /** Colours for `out` and for `err`: none where it is no terminal, and none with NO_COLOR. */
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
