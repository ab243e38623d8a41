import type { CommandResult } from '../../platform/sandbox/run-to-end.ts';
import type { Place } from './computer-folder.ts';

/**
 * What runs on a computer, whatever it is made of. Nothing here leaves the computer: whatever a command or a link inside
 * names, is looked for inside. Every call throws the signal's reason when it ends.
 */
export type ComputerHost = {
  kind: 'bubblewrap' | 'gvisor' | 'just-bash';
  /** Runs by bash, in the home folder, with nothing to read. What it leaves running ends with it. */
  run: (place: Place, command: Command) => Promise<CommandResult>;
  /** A part of a file. `path` is one that `homePath` gave. */
  readFile: (place: Place, path: string, part: Part) => Promise<FilePart | Fault>;
  /** Each whole or not at all, with the folders above it. `instead` is removed first. */
  writeFiles: (
    place: Place,
    files: readonly NewFile[],
    options: { instead?: string; signal: AbortSignal },
  ) => Promise<Fault | null>;
  listFiles: (place: Place, path: string, options: Listing) => Promise<{ entries: Entry[]; isCut: boolean } | Fault>;
  /** Clones where nothing that runs on the computer sees the credential, and puts the folder at `path`. */
  clone: (place: Place, repo: Repo) => Promise<CommandResult>;
  /** Gives back what was held for a computer that goes to sleep. */
  rest: (place: Place) => Promise<void>;
};

type Command = {
  script: string;
  env: Readonly<Record<string, string>>;
  timeoutMs: number;
  signal: AbortSignal;
};

/** What is wrong, as a sentence. */
export type Fault = { fault: string };

type Part = { from: number; maxBytes: number; signal: AbortSignal };

type FilePart = { bytes: Uint8Array; size: number };

export type NewFile = { path: string; bytes: Uint8Array; isExecutable?: boolean };

type Listing = { depth: number; most: number; signal: AbortSignal };

/** `path` from the folder that was listed. */
export type Entry = { kind: 'file' | 'folder' | 'link' | 'other'; size: number; path: string };

type Repo = {
  url: string;
  ref: string;
  path: string;
  token: string | null;
  /** Kept in the clone, so that a clone that is already there is known again. */
  mark: string;
  timeoutMs: number;
  signal: AbortSignal;
};
