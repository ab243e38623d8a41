import type { Micros } from '@vestra/contract/money';
import type { Models } from '@vestra/models/models';
import type { Logger } from 'pino';
import type { RunnableDeployment } from '../../agents/deployments/index.ts';
import type { HoldQueue } from '../../billing/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Statement } from '../../platform/db/group.ts';
import type { Database } from '../../platform/db/pool.ts';
import type { RowCache } from '../../platform/db/row-cache.ts';
import type { SharedWrites } from '../../platform/db/shared-writes.ts';
import type { JobSender } from '../../platform/jobs/catalog.ts';
import type { Run } from '../../platform/jobs/run-owner.ts';
import type { UserRow } from '../../users/index.ts';
import type { Announcer, Change } from '../records/change.ts';
import type { ConversationRow, MessageRow, TaskRow, TurnRow } from '../records/tables.ts';
import type { Runner } from './runner.ts';

/** What it takes to take messages, and to begin, end and stop what comes of them. */
export type Turns = {
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
  money: HoldQueue;
  models: Models;
  traces: TraceSink;
  batchItems: BatchItems;
  work: Work;
};

/** What a process does with a run that it has taken. */
type Work = {
  reply: (taken: { turn: TurnRow; run: Run; fresh: AcceptedState }, signal: AbortSignal) => Promise<void>;
  task: (taken: { task: TaskRow; turn: TurnRow; run: Run; fresh: AcceptedState }, signal: AbortSignal) => Promise<void>;
};

/** What the accepting process has just done and need not be done again. */
export type AcceptedState = {
  /** No process has worked on it before. */
  isFirstRun: boolean;
  /** What it has held for the first call. */
  hold: { reservationId: string; micros: Micros } | null;
  asked: MessageRow | null;
  user: UserRow | null;
};

export const notFresh: AcceptedState = { isFirstRun: false, hold: null, asked: null, user: null };

/** Batches count which of their items run: they hear of each turn that is one, in the transaction of what happens to it. */
type BatchItems = {
  ended: (change: Change, turn: TurnRow) => Promise<void>;
  /** The same as a statement to be sent with others, once it is known what the turn has cost. */
  ending: (turn: TurnRow, costMicros: Micros) => { statement: Statement; committed: (result: unknown) => void };
  waits: (change: Change, turn: TurnRow) => Promise<void>;
  /** Whether work that has its answer may go on at once; where not, the batch lets it go on later. */
  mayGoOn: (change: Change, turn: TurnRow) => Promise<boolean>;
};

/** Told of each run that has ended; it never holds one up. */
type TraceSink = { ended: (tenant: Tenant, run: { kind: 'turn' | 'task'; id: string }) => void };

/** `frame`: a picture as a data URI; null where there is none, or none for others to see. */
export type OpenPage = { url: string; frame: string | null };
