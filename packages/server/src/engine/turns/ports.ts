import type { Micros } from '@vestra/contract/money';
import type { Models } from '@vestra/models/models';
import type { Logger } from 'pino';
import type { RunnableDeployment } from '../../agents/deployments/index.ts';
import type { HoldQueue } from '../../billing/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { GroupCommit } from '../../platform/db/group-commit.ts';
import type { Statement } from '../../platform/db/pipeline.ts';
import type { Database } from '../../platform/db/pool.ts';
import type { RowCache } from '../../platform/db/row-cache.ts';
import type { JobSender } from '../../platform/jobs/catalog.ts';
import type { RunLease } from '../../platform/jobs/run-lease.ts';
import type { UserRow } from '../../users/index.ts';
import type { Announcer, Change } from '../records/change.ts';
import type { ConversationRow, MessageRow, TaskRow, TurnRow } from '../records/tables.ts';
import type { Runner } from './runner.ts';

/** The dependencies that accept messages and start, end and stop their runs. */
export type Turns = {
  db: Database;
  writes: GroupCommit;
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
  openTasks: OpenTaskLimits;
  models: Models;
  traces: TraceSink;
  batchItems: BatchItems;
  work: Work;
};

/** How many tasks may be queued or working at once before further ones are refused. */
export type OpenTaskLimits = { ofOrg: number; ofUser: number };

/** Executes a run that this process owns. */
type Work = {
  reply: (taken: { turn: TurnRow; run: RunLease; fresh: AcceptedState }, signal: AbortSignal) => Promise<void>;
  task: (
    taken: { task: TaskRow; turn: TurnRow; run: RunLease; fresh: AcceptedState },
    signal: AbortSignal,
  ) => Promise<void>;
};

/** State that the accepting process has at hand, so that the run need not read it again. */
export type AcceptedState = {
  /** True if no process has run it before. */
  isFirstRun: boolean;
  /** The money reserved for the first model call. */
  hold: { reservationId: string; micros: Micros } | null;
  asked: MessageRow | null;
  user: UserRow | null;
};

export const resumedState: AcceptedState = { isFirstRun: false, hold: null, asked: null, user: null };

/** Batches count their running items, in the transaction of each change to a turn. */
type BatchItems = {
  ended: (change: Change, turn: TurnRow) => Promise<void>;
  /** The same as a statement to be sent with others, if the cost of the turn is known. */
  endedStatement: (turn: TurnRow, costMicros: Micros) => { statement: Statement; committed: (result: unknown) => void };
  waits: (change: Change, turn: TurnRow) => Promise<void>;
  /** Whether a task that got its answer may resume at once. If not, the batch resumes it later. */
  mayResume: (change: Change, turn: TurnRow) => Promise<boolean>;
};

/** Notified of each ended run. It never delays a run. */
type TraceSink = { ended: (tenant: Tenant, run: { kind: 'turn' | 'task'; id: string }) => void };

/** `frame` is a screenshot as a data URI; null if there is none or others may not see it. */
export type OpenPage = { url: string; frame: string | null };
