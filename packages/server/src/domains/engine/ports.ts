import type { JsonSchema } from '@vestra/agent/message';
import type { Models } from '@vestra/models/models';
import type { Logger } from 'pino';
import type { DocumentReader } from '../../adapters/documents/reader.ts';
import type { FileStore } from '../../adapters/files/file-store.ts';
import type { Tenant } from '../../caller.ts';
import type { Database } from '../../db/pool.ts';
import type { JobSender } from '../../jobs/catalog.ts';
import type { Run } from '../../jobs/fence.ts';
import type { ServerTools } from '../mcp-servers/api.ts';
import type { Memory } from '../memory/api.ts';
import type { UserRow } from '../users/api.ts';
import type { Announcer, Change } from './change.ts';
import type { OwnTool } from './own-tools/own-tool.ts';
import type { Runner } from './runner.ts';
import type { MessageRow, TaskRow, TurnRow } from './tables.ts';

/** All that the engine needs of the house. */
export type Engine = {
  db: Database;
  jobs: JobSender;
  log: Logger;
  announcer: Announcer;
  runner: Runner;
  models: Models;
  schemas: Schemas;
  serverTools: ServerTools;
  hook: PolicyHook;
  memory: Memory;
  search: NotebookSearch;
  files: FileStore;
  documents: DocumentReader;
  traces: TraceSink;
  batchItems: BatchItems;
  routineTools: RoutineTools;
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
  reservationId: string | null;
  asked: MessageRow | null;
  user: UserRow | null;
};

/** Holds values against JSON Schemas of callers: bounded in depth, size and time. */
export type Schemas = {
  /** Null where the schema can be used. */
  faultOf: (schema: JsonSchema) => string | null;
  validate: (schema: JsonSchema, value: unknown) => { ok: true } | { ok: false; message: string };
};

/** The operator's say before a call that may change something. */
type PolicyHook = {
  mayRun: (question: {
    org_id: string;
    mode: Tenant['mode'];
    user_id: string | null;
    conversation_id: string;
    task_id: string | null;
    deployment_id: string;
    deployment_version: number;
    tool: { name: string; server: string | null };
    arguments: unknown;
  }) => Promise<{ kind: 'allowed' } | { kind: 'blocked'; message: string | null }>;
};

export type MemoryMode = Parameters<Memory['recall']>[1]['mode'];

export type NotebookSearch = (reader: {
  orgId: string;
  notebookIds: readonly string[];
  userId: string | null;
  query: string;
  limit: number;
}) => Promise<{ documentId: string; title: string; snippet: string; text: string }[]>;

/** Batches count which of their items run: they hear of each turn that is one, in the transaction of what happens to it. */
export type BatchItems = {
  ended: (change: Change, turn: TurnRow) => Promise<void>;
  waits: (change: Change, turn: TurnRow) => Promise<void>;
  /** Whether work that has its answer may go on at once; where not, the batch lets it go on later. */
  mayGoOn: (change: Change, turn: TurnRow) => Promise<boolean>;
};

/** The agent's tools for what it is to do again and again; in a test they only seem to. */
export type RoutineTools = (of: { tenant: Tenant; turn: TurnRow; isPretend: boolean }) => OwnTool[];

/** Told of each run that has ended; it never holds one up. */
type TraceSink = { ended: (tenant: Tenant, run: { kind: 'turn' | 'task'; id: string }) => void };
