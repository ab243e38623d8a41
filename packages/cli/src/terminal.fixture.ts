import { Readable } from 'node:stream';
import { run } from './run.ts';
import { painter, type Terminal } from './terminal.ts';

type Options = {
  env?: Record<string, string>;
  cwd?: string;
  stdin?: string;
  isInteractive?: boolean;
  /** If set, the output is a terminal of this width with colours. */
  columns?: number;
};

export type Ran = { code: number; out: string; err: string };

/** A terminal that records its output, by default without a user and without colours. */
export function keptTerminal({ env = {}, cwd = '/', stdin = '', isInteractive = false, columns }: Options = {}) {
  const said = { out: '', err: '' };
  const terminal: Terminal = {
    env,
    cwd,
    stdin: Readable.from([stdin]),
    isInteractive,
    columns: columns ?? null,
    out: (content) => {
      said.out += content;
    },
    err: (text) => {
      said.err += text;
    },
    paint: painter(columns !== undefined, env),
    paintError: painter(false, env),
    signal: new AbortController().signal,
  };
  return { terminal, said };
}

/** Runs one command line in this process. */
export async function runHere(typed: readonly string[], options: Options = {}): Promise<Ran> {
  const { terminal, said } = keptTerminal(options);
  const code = await run(typed, terminal);
  return { code, ...said };
}
