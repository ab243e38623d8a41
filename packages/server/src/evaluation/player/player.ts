import { ModelFailure } from '@vestra/agent/model';
import { Failure } from '@vestra/contract/errors';
import type { Logger } from 'pino';
import type { Followers } from '../../account/index.ts';
import type { IndexState, NotebookReader } from '../../agents/notebooks/index.ts';
import { costsOf } from '../../billing/index.ts';
import { changeConversation, type Engine, ignoreErased, stopAll } from '../../engine/index.ts';
import { MissingRow } from '../../platform/db/missing-row.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { isDatabaseUnreachable } from '../../platform/db/unreachable.ts';
import { holdRun, type RunLease, RunTakenOver, releaseRun } from '../../platform/jobs/run-lease.ts';
import type { TestRunRow } from '../tables.ts';
import {
  beginPlay,
  finishPlay,
  isOpenStatus,
  lockPlay,
  type PlayQueue,
  type PlayRow,
  type PlayTable,
} from './plays.ts';

/** The parts of the server that playing needs. */
export type Player = {
  engine: Engine;
  followers: Pick<Followers, 'follow' | 'wake'>;
  /** Promotes the version of a passed run in its mode, unless the org decided otherwise since. */
  promote: (
    tx: Transaction,
    of: { orgId: string; run: Pick<TestRunRow, 'id' | 'deployment_id' | 'version' | 'mode'> },
  ) => Promise<{ promoted: true } | { promoted: false; reason: string }>;
  /** How many of the documents that the agent will read are indexed. */
  indexStateOf: (reader: NotebookReader) => Promise<IndexState>;
};

/** A code of the error catalogue for something that could not be played, and a sentence if there is one. */
export type PlayFault = { code: string; message: string | null };

/** A test run, a replay or an improvement in the process that plays it. */
export type Play<Row extends PlayRow> = {
  row: Row;
  run: RunLease;
  /**
   * Call it in every transaction of a play before it writes. It throws if the play was cancelled or deleted, or if
   * another process took it over. Then nothing of the transaction is written.
   */
  hold: (tx: Transaction, strength: 'share' | 'update') => Promise<void>;
};

/** Test runs, replays and improvements differ in the items that they play, and in how those decide the end. */
export type PlayKind<Row extends PlayRow> = PlayQueue & {
  /** Plays all items that have no result. Returns what kept the play as a whole from having results, or null. */
  playItems: (player: Player, play: Play<Row>, signal: AbortSignal) => Promise<PlayFault | null>;
  /** The final status of the row. Runs in the transaction of the end, before the row is locked. */
  endOf: (
    tx: Transaction,
    player: Player,
    row: Row,
    fault: PlayFault | null,
  ) => Promise<Pick<Row, 'status' | 'error_code'> & Partial<Row>>;
  failOpenItems: (tx: Transaction, id: string, fault: PlayFault) => Promise<void>;
  emitCompleted: (tx: Transaction, row: Row) => Promise<void>;
};

/**
 * The job. It may run again after any crash. Items that have a result keep it, and an item that was being played
 * continues in its conversation.
 */
export async function runPlay<Row extends PlayRow>(
  player: Player,
  kind: PlayKind<Row>,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  const { db, runner } = player.engine;
  const taken = await transaction(db, async (tx) => {
    const found = await lockPlay(tx, kind.table, id, 'update');
    if (!found || !isOpenStatus(found.status)) return null;
    const run = await runner.take(tx, id);
    return { run, row: (await beginPlay(tx, kind.table, id)) as Row };
  });
  if (!taken) return;
  const { run, row } = taken;
  const play: Play<Row> = { row, run, hold: (tx, strength) => holdPlay(tx, kind.table, run, strength) };
  const playToEnd = async (ended: AbortSignal) => {
    const untilEnded = AbortSignal.any([signal, ended]);
    try {
      await endPlay(player, kind, play, await kind.playItems(player, play, untilEnded));
    } catch (error) {
      // The worker has given the job back, and another process continues.
      if (signal.aborted) return;
      if (isInterrupted(error, untilEnded)) throw error;
      await endPlay(player, kind, play, faultOf(player.engine.log, error));
    }
  };
  await runner.perform(run, { ...row, user_id: null }, (ended) =>
    playToEnd(ended).catch(async (error: unknown) => {
      if (!(error instanceof MissingRow)) throw error;
      // It was deleted, such as with its deployment.
      await transaction(db, (tx) => releaseRun(tx, run));
    }),
  );
}

async function holdPlay(tx: Transaction, table: PlayTable, run: RunLease, strength: 'share' | 'update'): Promise<void> {
  const row = await lockPlay(tx, table, run.runId, strength);
  if (!row) throw new MissingRow(table.name);
  if (row.status !== 'running') throw new RunTakenOver(run);
  await holdRun(tx, run);
}

/** The end and its event are one transaction. */
async function endPlay<Row extends PlayRow>(
  player: Player,
  kind: PlayKind<Row>,
  { row, run, hold }: Play<Row>,
  fault: PlayFault | null,
): Promise<void> {
  const { engine } = player;
  await transaction(engine.db, async (tx) => {
    const end = await kind.endOf(tx, player, row, fault);
    await hold(tx, 'update');
    if (fault) await kind.failOpenItems(tx, row.id, fault);
    await finishPlay(tx, kind.table, row.id, end);
    await releaseRun(tx, run);
    await kind.emitCompleted(tx, row);
  });
  engine.announcer.notify('test_run', row.id);
}

/** The play was deleted, or ends here and continues elsewhere or later: nothing may be recorded as its fault. */
export const isInterrupted = (error: unknown, signal: AbortSignal): boolean =>
  signal.aborted || error instanceof RunTakenOver || error instanceof MissingRow || isDatabaseUnreachable(error);

export function faultOf(log: Logger, error: unknown): PlayFault {
  if (error instanceof Failure) return { code: error.code, message: error.message };
  if (error instanceof ModelFailure) {
    return { code: error.reason === 'timeout' ? 'timeout' : 'model_error', message: error.message };
  }
  log.error({ err: error }, 'failed to play a test');
  return { code: 'internal', message: null };
}

/** The org pays for the part of a cancelled item that was played. */
export async function recordCostsOfCancelled<Item extends { status: string; conversation_id: string | null }>(
  tx: Transaction,
  items: readonly Item[],
  record: (item: Item, costMicros: bigint) => Promise<unknown>,
): Promise<void> {
  const cancelled = items.filter(({ status }) => status === 'cancelled');
  const conversationIds = cancelled.flatMap(({ conversation_id }) => conversation_id ?? []);
  const costs = await costsOf(tx, { conversationIds });
  for (const item of cancelled) {
    const cost = costs.get(item.conversation_id ?? '');
    if (cost) await record(item, cost.totalMicros);
  }
}

/** Stops the process that plays a cancelled row, and the agent in the conversations of its cancelled items. */
export async function stopPlaying(
  engine: Engine,
  { id, status }: { id: string; status: string },
  items: readonly { status: string; conversationId: string | null }[],
): Promise<void> {
  if (status !== 'cancelled') return;
  engine.announcer.notify('run', id);
  engine.announcer.notify('test_run', id);
  for (const { status: itemStatus, conversationId } of items) {
    if (itemStatus !== 'cancelled' || conversationId === null) continue;
    await changeConversation(engine, conversationId, null, (change) => stopAll(engine, change)).catch(ignoreErased);
  }
}
