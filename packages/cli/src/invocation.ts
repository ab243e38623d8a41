import type { Client } from '@vestra/sdk/client';
import type { GlobalValues } from './global-flags.ts';
import type { Settings } from './settings.ts';
import type { Terminal } from './terminal.ts';

/** One run of a command: what was typed, and what it may use. */
export type Invocation = {
  terminal: Terminal;
  isJson: boolean;
  isDebug: boolean;
  /** The server and key in force. */
  settings: () => Promise<Settings>;
  /** A client for them; refuses where there is no key and one is needed. */
  connect: (options?: { needsKey: boolean }) => Promise<Client>;
  /** What was typed, by the names of the command table. */
  values: Readonly<Record<string, unknown>>;
  /** Flags that only the command line has, by commander's names. */
  flags: Readonly<Record<string, unknown>>;
};

/** A command that is more than one call. */
export type OwnCommand = {
  /** Where the command line does more than the table says. */
  summary?: string;
  /** Every command of the table takes a `user`; this one has no use for it. */
  takesNoUser?: true;
  /** Arguments of the table that are typed without a flag. */
  positional?: readonly string[];
  /** Flags beyond the table's: `['--follow', 'Go on with what happens.']`; `several`: may be given again. */
  flags?: readonly (readonly [flag: string, description: string, times?: 'several'])[];
  /** The exit code; nothing: 0. */
  run: (invocation: Invocation) => Promise<number> | Promise<void>;
};

/** A command as a shell completes it. */
export type Outline = { name: string; summary: string; flags: readonly string[] };

export type LocalInvocation = Invocation & {
  globals: GlobalValues;
  words: readonly (string | undefined)[];
  /** Every command, with its flags. */
  outlines: () => readonly Outline[];
};
