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

/** What the tools of a run take beside what a turn does. */
export type ToolParts = Turns & {
  serverTools: ServerTools;
  apps: Apps;
  memory: Memory;
  search: NotebookSearch;
  files: FileStore;
  documents: DocumentReader;
  fitPicture: FitPicture;
  routineTools: RoutineTools;
  workComputers: WorkComputers;
  workBrowsers: WorkBrowsers;
};

/** What users may connect, and have connected. */
type Apps = {
  /** Those of the wanted that users of the org can connect now. */
  connectable: (
    tenant: Tenant,
    isWanted: (app: { id: string }) => boolean,
  ) => Promise<readonly { id: string; name: string }[]>;
  find: (id: string) => { id: string; name: string } | undefined;
  /** Waits for whoever is about to connect it. */
  isConnected: (tx: Transaction, tenant: Tenant, of: { userId: string | null; app: string }) => Promise<boolean>;
};

export type NotebookReader = {
  orgId: string;
  notebookIds: readonly string[];
  /** What the version fixes of them; null: their newest content. */
  revisions: Readonly<Record<string, number>> | null;
  userId: string | null;
};

export type NotebookSearch = (search: NotebookReader & { query: string; limit: number }) => Promise<{
  hits: {
    notebookId: string;
    documentId: string;
    title: string;
    heading: string;
    page: number | null;
    snippet: string;
    text: string;
  }[];
  /** Documents of which some can only be found by their words yet. */
  unindexed: number;
}>;

/** The agent's tools for what it is to do again and again; in a test they only seem to. */
type RoutineTools = (of: { tenant: Tenant; turn: TurnRow; isPretend: boolean }) => OwnTool[];

/** The computer of whoever a piece of work is for; null where this server has none. It is woken when it is used. */
type WorkComputers = (of: {
  tenant: Tenant;
  turn: TurnRow;
  manifest: Manifest;
  /** What its version may put there: whatever else was put there before is taken away. */
  skills: readonly KnownSkill[];
  /** Of the whole conversation, the newest first. */
  attachments: readonly Attachment[];
}) => Promise<WorkComputer | null>;

export type WorkComputer = {
  tools: readonly OwnTool[];
  /** A file of it that is given to the person. */
  readOutput: (path: string, signal: AbortSignal) => Promise<({ bytes: Uint8Array } | { refused: string }) & Metered>;
  /** Puts the files of a skill where its scripts can be run, and says where. */
  placeSkill: (
    skill: KnownSkill & { files: readonly { path: string; content: string }[] },
    signal: AbortSignal,
  ) => Promise<{ note: string } & Metered>;
};

/** The browsers that the agent works in. */
type WorkBrowsers = {
  /** The tools of one piece of work; none where this server has no browsers. The browser is woken when it is used. */
  ofWork: (of: {
    tenant: Tenant;
    turn: TurnRow;
    task: TaskRow;
    manifest: Manifest;
    /** Gives the person a file as a result of the work. */
    save: (file: { name: string; bytes: Uint8Array }) => Promise<{ id: string; filename: string | null }>;
  }) => Promise<readonly OwnTool[]>;
  /**
   * The page that the work has open now and the person is to do something in; null where it has none. While they give a
   * secret away in it, nobody else sees it until the hand-off is over.
   */
  handOver: (task: TaskRow, of: { isSecret: boolean }) => Promise<OpenPage | null>;
};

/** How long the computer has run for it. */
type Metered = { computerSeconds: number };

/** What came of a call, before anything of it is kept. */
type RanTool = ({ kind: 'result' } & ToolAnswer) | Extract<ToolOutcome, { kind: 'connect' | 'input' | 'under_way' }>;

/** The tools of one run. */
export type RunTools = {
  all: readonly Tool[];
  /** What a call of a tool of the agent's own, or of a server, does. `sample`: for servers that may ask the model. */
  run: (call: ToolCall, tool: Tool, signal: AbortSignal, of: CallSoFar & { sample: Sample }) => Promise<RanTool>;
  /** Tells the tool of a call that is under way that nobody waits for it any more. */
  cancel: (tool: Tool, underWay: unknown, signal: AbortSignal) => Promise<void>;
  /** What a call costs; null where nothing. */
  priceOf: (tool: Tool) => number | null;
  /** Only what changes nothing is among them, until somebody says yes to the plan. */
  awaitsPlan: boolean;
  hasComputer: boolean;
  hasBrowser: boolean;
  /** The servers whose tools should be among them and are not. */
  missing: readonly UnavailableServer[];
};
