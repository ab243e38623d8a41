import type { CommandResult } from '../../platform/sandbox/confined-process.ts';
import type { ComputerFolders } from './computer-folder.ts';

/**
 * Runs commands on a computer, whatever its implementation. Nothing leaves the computer: paths and links resolve inside
 * it. Every call throws the reason of the signal if that aborts.
 */
export type ComputerHost = {
  kind: 'bubblewrap' | 'gvisor' | 'just-bash';
  /** Runs bash in the home folder without stdin. Processes that it leaves running are killed. */
  run: (folders: ComputerFolders, command: CommandRequest) => Promise<CommandResult>;
  /** Reads part of a file. `path` comes from `homePath`. */
  readFile: (folders: ComputerFolders, path: string, part: FileRange) => Promise<FilePart | FileFault>;
  /** Writes each file completely or not at all, and creates its folders. `instead` is removed first. */
  writeFiles: (
    folders: ComputerFolders,
    files: readonly NewFile[],
    options: { instead?: string; signal: AbortSignal },
  ) => Promise<FileFault | null>;
  listFiles: (
    folders: ComputerFolders,
    path: string,
    options: ListOptions,
  ) => Promise<{ entries: FolderEntry[]; isCut: boolean } | FileFault>;
  /** Clones where no program on the computer sees the credential, and moves the result to `path`. */
  clone: (folders: ComputerFolders, repo: RepositoryToClone) => Promise<CommandResult>;
  /** Releases the resources of a computer that goes to sleep. */
  release: (folders: ComputerFolders) => Promise<void>;
};

type CommandRequest = {
  script: string;
  env: Readonly<Record<string, string>>;
  timeoutMs: number;
  signal: AbortSignal;
};

/** A sentence for the agent. */
export type FileFault = { fault: string };

type FileRange = { from: number; maxBytes: number; signal: AbortSignal };

type FilePart = { bytes: Uint8Array; size: number };

export type NewFile = { path: string; bytes: Uint8Array; isExecutable?: boolean };

type ListOptions = { depth: number; most: number; signal: AbortSignal };

/** `path` is relative to the listed folder. */
export type FolderEntry = { kind: 'file' | 'folder' | 'link' | 'other'; size: number; path: string };

type RepositoryToClone = {
  url: string;
  ref: string;
  path: string;
  token: string | null;
  /** Stored in the clone, so that an existing clone is recognised. */
  mark: string;
  timeoutMs: number;
  signal: AbortSignal;
};

/** Limits of one computer over all its commands, unless stated otherwise. */
export type ComputerLimits = {
  /** Held by the kernel, which refuses further processes. */
  processes: number;
  /** The server ends the largest command above this number, before the kernel refuses processes to all of them. */
  processesBeforeEnd: number;
  memoryBytes: number;
  /** The size of the home folder. */
  diskBytes: number;
  files: number;
  /** How often usage is measured. */
  everyMs: number;
  commandsAtOnce: number;
  commandsWaiting: number;
  fileBytes: number;
  outputBytes: number;
};

export const megabyte = 1024 * 1024;
export const defaultLimits: ComputerLimits = {
  processes: 256,
  processesBeforeEnd: 192,
  memoryBytes: 2048 * megabyte,
  diskBytes: 4096 * megabyte,
  files: 250_000,
  everyMs: 50,
  commandsAtOnce: 4,
  commandsWaiting: 64,
  fileBytes: 2048 * megabyte,
  outputBytes: 256 * 1024,
};
