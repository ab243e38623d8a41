import { setTimeout as sleep } from 'node:timers/promises';
import type { IndexState } from '../../agents/notebooks/index.ts';
import type { FixedContent, Manifest } from '../../agents/versions/index.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { holdPlay, type Player, type Playing } from './playing.ts';
import { updateRun } from './store.ts';

/** What the largest notebook takes on two cores. After it the run is played with what there is, and says so. */
const longestMs = 3 * 60_000;
const mostBetweenMs = 1_000;

/**
 * An agent that finds its documents by their words alone answers otherwise than the one that users will meet: a verdict
 * on it would be chance.
 */
export async function waitForIndex(
  player: Player,
  { row, run }: Playing,
  { manifest, content }: { manifest: Manifest; content: FixedContent },
  signal: AbortSignal,
): Promise<void> {
  const { notebooks } = manifest;
  if (notebooks.length === 0) return;
  const reader = { orgId: row.org_id, notebookIds: notebooks, revisions: content.notebooks, userId: null };
  const until = Date.now() + longestMs;
  let { note } = row;
  for (let betweenMs = 250; ; betweenMs = Math.min(betweenMs * 2, mostBetweenMs)) {
    const state = await player.indexStateOf(reader);
    const isOver = Date.now() >= until;
    const now = noteOf(state, isOver);
    if (now !== note) await tell(now);
    note = now;
    if (isOver || state.indexed === state.total) return;
    await sleep(betweenMs, undefined, { signal });
  }

  async function tell(now: string | null): Promise<void> {
    await transaction(player.engine.db, async (tx) => {
      await holdPlay(tx, run, 'update');
      await updateRun(tx, row.id, { note: now });
    });
    player.engine.announcer.notify('test_run', row.id);
  }
}

function noteOf({ indexed, total }: IndexState, isOver: boolean): string | null {
  if (indexed === total) return null;
  const documents = `${indexed} of ${total} ${total === 1 ? 'document' : 'documents'}`;
  return isOver
    ? `Played while only ${documents} of its notebooks were indexed: the agent may have missed what the others say.`
    : `Waits until its notebooks are indexed: ${documents} so far.`;
}
