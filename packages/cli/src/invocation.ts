import type { Client } from '@vestra/sdk/client';
import type { GlobalValues } from './global-flags.ts';
import type { Settings } from './settings.ts';
import type { Terminal } from './terminal.ts';

/** One run of a command: the typed values and its dependencies. */
export type Invocation = {
  terminal: Terminal;
  isJson: boolean;
  isDebug: boolean;
  /** The server and key in use. */
  settings: () => Promise<Settings>;
  /** A client for them. Throws if a key is needed and missing. */
  connect: (options?: { needsKey: boolean }) => Promise<Client>;
  /** The typed values, by their names in the command table. */
  values: Readonly<Record<string, unknown>>;
  /** Flags that exist only on the command line, by commander's names. */
  flags: Readonly<Record<string, unknown>>;
};

/** A command that does more than one call. */
export type OwnCommand = {
  /** Set if the command line does more than the table describes. */
  summary?: string;
  /** Every command of the table accepts a `user`; this one does not use it. */
  takesNoUser?: true;
  /** Arguments of the table that are typed without a flag. */
  positional?: readonly string[];
  /** Flags beyond the table: `['--follow', 'Keep printing new events.']`; `several`: repeatable. */
  flags?: readonly (readonly [flag: string, description: string, times?: 'several'])[];
  /** Returns the exit code. Default: 0. */
  run: (invocation: Invocation) => Promise<number> | Promise<void>;
};

/** A command for shell completion. */
export type Outline = { name: string; summary: string; flags: readonly string[] };

export type LocalInvocation = Invocation & {
  globals: GlobalValues;
  words: readonly (string | undefined)[];
  /** Every command, with its flags. */
  outlines: () => readonly Outline[];
};
