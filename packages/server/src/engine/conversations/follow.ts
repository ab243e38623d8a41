import { newId } from '@vestra/contract/ids';
import type { Mode } from '@vestra/contract/route';
import type { Followers, LogEntry } from '../../account/index.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Database } from '../../platform/db/pool.ts';
import type { FrameSource } from '../../platform/http/sse.ts';
import { pendingInteractions } from '../records/interactions.ts';
import { presentLogEntry } from '../records/present.ts';
import type { TurnRow } from '../records/tables.ts';
import { isOver } from '../records/turn.ts';
import { type FollowedTurns, findTurn } from '../records/turns.ts';

type Followed = { id: string; org_id: string; mode: Mode; deployment_id: string | null };

/** `isRunning` is asked only while the server goes down. */
export type FollowPorts = { followers: Followers; isRunning: (of: FollowedTurns) => Promise<boolean> };

/** A conversation's events from some point on, for ever. `taskId`: one task's alone. */
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

/** One turn's events, from its first to `turn.settled`. `written`: its first, where this process has just written them. */
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
  // While the server goes down: nothing runs, and what is written by now is the last that this stream carries.
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
        if (isEnding && entries.length === 0) return { frames: [closing()], isOver: true };
        if (isLeaving && !isEnding && mayEndRun(entries) && !(await isRunning())) {
          isEnding = true;
          // The state was read after these entries: the events that came with it are in the rows.
          follower.look();
        }
        // What is not for this reader is no reason to break the silence.
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
    closing,
  };

  function closing() {
    const about = { conversation_id: conversation.id, task_id: null, turn_id: null };
    const told = { type: 'stream.closed' as const, data: { reason: 'server_restarting' } };
    return frameOf({ ...about, ...told, seq, id: newId('evt'), created_at: sharedDate() }, conversation);
  }
}

/** The text of a reply goes by without a look at its turn. */
const mayEndRun = (entries: readonly LogEntry[]) =>
  entries.length === 0 || entries.some(({ type }) => type !== 'reply.delta');

/**
 * Waits until the turn has settled, needs an answer that the caller may have to give, or the time is over. The company's
 * code answers calls of the functions that the deployment declares, so those end no wait.
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
      const turn = (await findTurn(db, turnId)) as TurnRow;
      if (isOver(turn.state) || leftMs <= 0 || signal.aborted) return turn;
      // The caller that waits here may be the one who has to answer.
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
