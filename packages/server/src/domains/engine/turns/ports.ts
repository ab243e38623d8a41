import type { JsonSchema } from '@vestra/agent/message';
import type { OwnTool } from '@vestra/agent/own-tool';
import type { Micros } from '@vestra/contract/money';
import type { Models } from '@vestra/models/models';
import type { Logger } from 'pino';
import type { DocumentReader } from '../../../adapters/documents/reader.ts';
import type { FileStore } from '../../../adapters/files/file-store.ts';
import type { FitPicture } from '../../../adapters/pictures/fit-picture.ts';
import type { PolicyHook } from '../../../adapters/policy-hook/policy-hook.ts';
import type { Tenant } from '../../../caller.ts';
import type { Database, Transaction } from '../../../db/pool.ts';
import type { RowCache } from '../../../db/row-cache.ts';
import type { SharedWrites } from '../../../db/shared-writes.ts';
import type { JobSender } from '../../../jobs/catalog.ts';
import type { Run } from '../../../jobs/fence.ts';
import type { Manifest, RunnableDeployment } from '../../deployments/api.ts';
import type { MoneyLine } from '../../ledger/api.ts';
import type { ServerTools } from '../../mcp-servers/api.ts';
import type { Memory } from '../../memory/api.ts';
import type { KnownSkill } from '../../skills/api.ts';
import type { UserRow } from '../../users/api.ts';
import type { Announcer, Change } from '../records/change.ts';
import type { Attachment, ConversationRow, MessageRow, TaskRow, TurnRow } from '../records/tables.ts';
import type { Runner } from './runner.ts';

/** All that the engine needs of the house. */
export type Engine = {
  db: Database;
  writes: SharedWrites;
  seen: {
    conversations: RowCache<ConversationRow>;
    users: RowCache<UserRow>;
    deployments: RowCache<RunnableDeployment>;
  };
  jobs: JobSender;
  log: Logger;
  announcer: Announcer;
  runner: Runner;
  money: MoneyLine;
  models: Models;
  schemas: Schemas;
  serverTools: ServerTools;
  apps: Apps;
  hook: PolicyHook;
  memory: Memory;
  search: NotebookSearch;
  files: FileStore;
  documents: DocumentReader;
  fitPicture: FitPicture;
  traces: TraceSink;
  batchItems: BatchItems;
  routineTools: RoutineTools;
  workComputers: WorkComputers;
  workBrowsers: WorkBrowsers;
  work: Work;
};

/** What a process does with a run that it has taken. */
type Work = {
  reply: (taken: { turn: TurnRow; run: Run; fresh: Fresh }, signal: AbortSignal) => Promise<void>;
  /** `isFirstRun`: no process has worked on it before. */
  task: (taken: { task: TaskRow; turn: TurnRow; run: Run; isFirstRun: boolean }, signal: AbortSignal) => Promise<void>;
};

/** What the accepting process has just done and need not be done again. */
export type Fresh = {
  isFirstRun: boolean;
  /** What it has held for the first call. */
  hold: { reservationId: string; micros: Micros } | null;
  asked: MessageRow | null;
  user: UserRow | null;
};

/** Holds values against JSON Schemas of callers: bounded in depth, size and time. */
export type Schemas = {
  /** Null where the schema can be used. */
  faultOf: (schema: JsonSchema) => string | null;
  validate: (schema: JsonSchema, value: unknown) => { ok: true } | { ok: false; message: string };
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

/** Batches count which of their items run: they hear of each turn that is one, in the transaction of what happens to it. */
export type BatchItems = {
  ended: (change: Change, turn: TurnRow) => Promise<void>;
  waits: (change: Change, turn: TurnRow) => Promise<void>;
  /** Whether work that has its answer may go on at once; where not, the batch lets it go on later. */
  mayGoOn: (change: Change, turn: TurnRow) => Promise<boolean>;
};

/** The agent's tools for what it is to do again and again; in a test they only seem to. */
export type RoutineTools = (of: { tenant: Tenant; turn: TurnRow; isPretend: boolean }) => OwnTool[];

/** The computer of whoever a piece of work is for; null where this server has none. It is woken when it is used. */
export type WorkComputers = (of: {
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

/** The agent's own hands in a browser. */
export type WorkBrowsers = {
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

/** `frame`: a picture as a data URI; null where there is none, or none for others to see. */
export type OpenPage = { url: string; frame: string | null };

/** How long the computer has run for it. */
type Metered = { computerSeconds: number };

/** Told of each run that has ended; it never holds one up. */
type TraceSink = { ended: (tenant: Tenant, run: { kind: 'turn' | 'task'; id: string }) => void };
