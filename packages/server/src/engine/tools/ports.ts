import type { ToolCall } from '@vestra/agent/message';
import type { OwnTool, ToolAnswer } from '@vestra/agent/own-tool';
import type { CallSoFar, ToolOutcome } from '@vestra/agent/ports';
import type { Tool } from '@vestra/agent/tool';
import type { DocumentReader } from '../../agents/index.ts';
import type { KnownSkill } from '../../agents/skills/index.ts';
import type { Sample, ServerTools, UnavailableServer } from '../../agents/tool-servers/index.ts';
import type { Manifest } from '../../agents/versions/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import type { FileStore } from '../../platform/files/file-store.ts';
import type { Memory } from '../../users/index.ts';
import type { Attachment, TaskRow, TurnRow } from '../records/tables.ts';
import type { OpenPage, Turns } from '../turns/ports.ts';
import type { FitPicture } from './pictures.ts';

/** Dependencies of a run's tools, in addition to those of a turn. */
export type ToolParts = Turns & {
  serverTools: ServerTools;
  apps: Apps;
  memory: Memory;
  search: NotebookSearch;
  files: FileStore;
  documents: DocumentReader;
  fitPicture: FitPicture;
  routineTools: RoutineTools;
  taskComputers: TaskComputers;
  taskBrowsers: TaskBrowsers;
};

/** Apps that users can connect or have connected. */
type Apps = {
  /** Filters the apps that users of the org can connect now. */
  connectable: (
    tenant: Tenant,
    isWanted: (app: { id: string }) => boolean,
  ) => Promise<readonly { id: string; name: string }[]>;
  find: (id: string) => { id: string; name: string } | undefined;
  /** Waits for a transaction that is just connecting the app. */
  isConnected: (tx: Transaction, tenant: Tenant, of: { userId: string | null; app: string }) => Promise<boolean>;
};

export type NotebookReader = {
  orgId: string;
  notebookIds: readonly string[];
  /** Revisions that the version fixes. Null reads the newest content, and a list whatever one of them has. */
  revisions: Readonly<Record<string, number>> | number[] | null;
  userId: string | null;
};

export type NotebookSearch = (search: NotebookReader & { query: string; limit: number }) => Promise<{
  hits: {
    notebookId: string;
    documentId: string;
    /** The position of the passage in its document. */
    position: number;
    title: string;
    heading: string;
    page: number | null;
    snippet: string;
    text: string;
  }[];
  /** Number of documents that are not fully indexed by meaning yet. */
  unindexed: number;
}>;

/** The agent's tools for routines. With `isSimulated` they change nothing. */
type RoutineTools = (of: { tenant: Tenant; turn: TurnRow; isSimulated: boolean }) => OwnTool[];

/** The computer of the task's user. Null if this server has none. The first use starts it. */
type TaskComputers = (of: {
  tenant: Tenant;
  turn: TurnRow;
  manifest: Manifest;
  /** Skills of the version. Skills that were placed earlier and are not listed are removed. */
  skills: readonly KnownSkill[];
  /** Attachments of the whole conversation, newest first, and then the files that tools returned. */
  uploads: readonly Attachment[];
}) => Promise<TaskComputer | null>;

export type TaskComputer = {
  tools: readonly OwnTool[];
  /** Puts files on the computer before its next tool runs. Returns their paths. */
  addUploads: (files: readonly Attachment[]) => string[];
  /** Reads a file that the agent gives to the person. */
  readOutput: (path: string, signal: AbortSignal) => Promise<({ bytes: Uint8Array } | { refused: string }) & Metered>;
  /** Notes that this file was stored as an output, so that a deletion removes it from the computer too. */
  noteOutput: (path: string, file: { id: string; sha256: string }) => Promise<void>;
  /** Puts the files of a skill where its scripts can be run. `note` describes the location. */
  placeSkill: (
    skill: KnownSkill & { files: readonly { path: string; content: string }[] },
    signal: AbortSignal,
  ) => Promise<{ note: string } & Metered>;
};

type TaskBrowsers = {
  /** The browser tools of one task. Empty if this server has no browsers. The first use starts the browser. */
  forTask: (of: {
    tenant: Tenant;
    turn: TurnRow;
    task: TaskRow;
    manifest: Manifest;
    /** Stores a file as an output of the task. */
    save: (file: { name: string; bytes: Uint8Array }) => Promise<{ id: string; filename: string | null }>;
  }) => Promise<readonly OwnTool[]>;
  /**
   * The page that the task has open, for the person to act in. Null if it has none. With `isSecret`, nobody else sees
   * the page until the hand-off is over.
   */
  handOver: (task: TaskRow, of: { isSecret: boolean }) => Promise<OpenPage | null>;
};

/** How long the computer ran for the call. */
type Metered = { computerSeconds: number };

/** The outcome of a call, before its media are stored. */
type ToolCallOutcome =
  | ({ kind: 'result' } & ToolAnswer)
  | Extract<ToolOutcome, { kind: 'connect' | 'input' | 'under_way' }>;

export type RunTools = {
  all: readonly Tool[];
  /** `server` is the first one that a call could not reach although its tools were offered. */
  lost: { server?: { slug: string; message: string } };
  /** Calls a tool of the agent or of a server. `sample` lets a server ask the model, `onProgress` shows its reports. */
  run: (
    call: ToolCall,
    tool: Tool,
    signal: AbortSignal,
    of: CallSoFar & { sample: Sample; onProgress: (text: string) => void },
  ) => Promise<ToolCallOutcome>;
  /** Notifies the server that nobody waits for a background call any more. */
  cancel: (tool: Tool, underWay: unknown, signal: AbortSignal) => Promise<void>;
  /** Price of a call in US dollars. Null if it is free. */
  priceOf: (tool: Tool) => number | null;
  /** True until the plan is approved: `all` then has only tools that change nothing. */
  awaitsPlan: boolean;
  hasComputer: boolean;
  hasBrowser: boolean;
  /** Servers with offered tools and a text on how to use them. */
  servers: readonly { name: string; instructions: string }[];
  /** Servers whose tools are missing from `all`, wholly or in part. */
  missing: readonly UnavailableServer[];
};
