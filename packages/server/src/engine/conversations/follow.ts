import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import type { Mode } from '@vestra/contract/route';
import type { Followers, LogEntry } from '../../account/index.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Database } from '../../platform/db/pool.ts';
import type { FrameSource } from '../../platform/http/sse.ts';
import { pendingInteractions } from '../records/interactions.ts';
import { presentLogEntry } from '../records/present.ts';
import type { TurnRow } from '../records/tables.ts';
import { type FollowedTurns, findTurn, isTurnOver } from '../records/turns.ts';

type Followed = { id: string; org_id: string; mode: Mode; deployment_id: string | null };

/** `isRunning` is called only while the server shuts down. */
export type FollowPorts = { followers: Followers; isRunning: (of: FollowedTurns) => Promise<boolean> };

/** Follows the events of a conversation without end. With `taskId`, only those of one task. */
export function followConversation(
  { followers, isRunning }: FollowPorts,
  conversation: Followed,
  { after, taskId }: { after: number; taskId: string | null },
): FrameSource {
  return framesOf(followers.follow(conversation.id, after), conversation, {
    after,
    isWanted: ({ task_id }) => taskId === null || task_id === taskId,
    isLast: () => false,
    isRunning: () => isRunning(followedTurns(conversation, null)),
  });
}

/**
 * Follows the events of one turn up to `turn.settled`. `written` has its first events if this process has just written
 * them.
 */
export function followTurn(
  { followers, isRunning }: FollowPorts,
  conversation: Followed,
  { turnId, after, written }: { turnId: string; after: number; written: readonly LogEntry[] | null },
): FrameSource {
  return framesOf(followers.follow(conversation.id, after, written), conversation, {
    after,
    isWanted: ({ turn_id }) => turn_id === turnId,
    isLast: (entry) => settles(entry, turnId),
    isRunning: () => isRunning(followedTurns(conversation, turnId)),
  });
}

const followedTurns = ({ id, org_id, mode }: Followed, turnId: string | null): FollowedTurns => ({
  orgId: org_id,
  mode,
  conversationId: id,
  turnId,
});

function framesOf(
  follower: ReturnType<Followers['follow']>,
  conversation: Followed,
  {
    after,
    isWanted,
    isLast,
    isRunning,
  }: {
    after: number;
    isWanted: (entry: LogEntry) => boolean;
    isLast: (entry: LogEntry) => boolean;
    isRunning: () => Promise<boolean>;
  },
): FrameSource {
  let seq = after;
  let isLeaving = false;
  // Set during shutdown when no turn runs: the entries that are written by now are the last ones of this stream.
  let isEnding = false;

  return {
    async next(withinMs) {
      const deadline = performance.now() + withinMs;
      for (;;) {
        const entries = await follower.next(isEnding ? 0 : Math.max(0, deadline - performance.now()));
        seq = entries.at(-1)?.seq ?? seq;
        const end = entries.findIndex(isLast);
        const wanted = (end === -1 ? entries : entries.slice(0, end + 1)).filter(isWanted);
        const frames = wanted.map((entry) => frameOf(entry, conversation));
        if (end !== -1) return { frames, isOver: true };
        if (follower.isEnded()) return { frames: [...frames, closing('conversation_deleted')], isOver: true };
        if (isEnding && entries.length === 0) return { frames: [closing('server_restarting')], isOver: true };
        if (isLeaving && !isEnding && mayEndRun(entries) && !(await isRunning())) {
          isEnding = true;
          // The state was read after these entries, so events that belong to it are already in the table.
          follower.look();
        }
        // Entries that are filtered out must not end the wait early.
        const isSilent = frames.length === 0 && (isEnding || entries.length > 0);
        if (isSilent && (isEnding || performance.now() < deadline)) continue;
        return { frames, isOver: false };
      }
    },
    close: follower.close,
    leave() {
      isLeaving = true;
      follower.look();
    },
    closing: () => closing('server_restarting'),
  };

  function closing(reason: 'server_restarting' | 'conversation_deleted') {
    const about = { conversation_id: conversation.id, task_id: null, turn_id: null };
    const closed = { type: 'stream.closed' as const, data: { reason } };
    return frameOf({ ...about, ...closed, seq, id: newId('evt'), created_at: sharedDate() }, conversation);
  }
}

/** Text of a reply does not change the state of its turn, so it needs no query. */
const mayEndRun = (entries: readonly LogEntry[]) =>
  entries.length === 0 || entries.some(({ type }) => type !== 'reply.delta');

/**
 * Waits until the turn has settled, needs an answer that the caller may have to give, or the time is over. Calls of
 * declared functions do not end the wait, because the company's program answers them.
 */
export async function waitForTurn(
  { db, followers }: { db: Database; followers: Followers },
  { turnId, conversationId, after }: { turnId: string; conversationId: string; after: number },
  { withinMs, signal }: { withinMs: number; signal: AbortSignal },
): Promise<TurnRow> {
  const follower = followers.follow(conversationId, after);
  signal.addEventListener('abort', follower.close, { once: true });
  try {
    const deadline = performance.now() + withinMs;
    for (;;) {
      const leftMs = deadline - performance.now();
      const entries = leftMs > 0 && !signal.aborted ? await follower.next(leftMs) : [];
      const isAsking = entries.some((entry) => asks(entry, turnId));
      if (entries.length > 0 && !isAsking && !entries.some((entry) => settles(entry, turnId))) continue;
      const turn = await findTurn(db, turnId);
      // The conversation was deleted meanwhile.
      if (!turn) throw fail('conversation_not_found');
      if (isTurnOver(turn.state) || leftMs <= 0 || signal.aborted) return turn;
      // The waiting caller may be the one who has to answer.
      if (isAsking && (await isAwaited(db, turn))) return turn;
    }
  } finally {
    follower.close();
  }
}

async function isAwaited(db: Database, { id, conversation_id }: TurnRow): Promise<boolean> {
  return (await pendingInteractions(db, [conversation_id])).some(
    ({ turn_id, type, details }) => turn_id === id && (type !== 'tool_call' || details.declared_by === 'message'),
  );
}

const asks = ({ type, turn_id }: LogEntry, turnId: string) =>
  (type === 'interaction.created' || type === 'tool_call.created') && turn_id === turnId;

const settles = ({ type, turn_id }: LogEntry, turnId: string) => type === 'turn.settled' && turn_id === turnId;

const frameOf = (entry: LogEntry, { deployment_id }: Followed) => ({
  id: String(entry.seq),
  event: entry.type,
  data: presentLogEntry(entry, deployment_id),
});
