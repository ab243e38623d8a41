import type { Database } from '../../db/pool.ts';
import type { FrameSource } from '../../http/sse.ts';
import { pendingInteractions } from '../engine/records/interactions.ts';
import { presentLogEntry } from '../engine/records/present.ts';
import type { TurnRow } from '../engine/records/tables.ts';
import { isOver } from '../engine/records/turn.ts';
import { findTurn } from '../engine/records/turns.ts';
import type { Followers, LogEntry } from '../events/api.ts';

type Followed = { id: string; deployment_id: string | null };

/** A conversation's events from some point on, for ever. `taskId`: one task's alone. */
export function followConversation(
  followers: Followers,
  conversation: Followed,
  { after, taskId }: { after: number; taskId: string | null },
): FrameSource {
  return framesOf(followers.follow(conversation.id, after), conversation, {
    isWanted: ({ task_id }) => taskId === null || task_id === taskId,
    isLast: () => false,
  });
}

/** One turn's events, from its first to `turn.settled`. `written`: its first, where this process has just written them. */
export function followTurn(
  followers: Followers,
  conversation: Followed,
  { turnId, after, written }: { turnId: string; after: number; written: readonly LogEntry[] | null },
): FrameSource {
  return framesOf(followers.follow(conversation.id, after, written), conversation, {
    isWanted: ({ turn_id }) => turn_id === turnId,
    isLast: (entry) => settles(entry, turnId),
  });
}

function framesOf(
  follower: ReturnType<Followers['follow']>,
  conversation: Followed,
  { isWanted, isLast }: { isWanted: (entry: LogEntry) => boolean; isLast: (entry: LogEntry) => boolean },
): FrameSource {
  return {
    async next(withinMs) {
      const deadline = performance.now() + withinMs;
      for (;;) {
        const entries = await follower.next(Math.max(0, deadline - performance.now()));
        const end = entries.findIndex(isLast);
        const wanted = (end === -1 ? entries : entries.slice(0, end + 1)).filter(isWanted);
        // What is not for this reader is no reason to break the silence.
        if (wanted.length === 0 && entries.length > 0 && performance.now() < deadline) continue;
        return { frames: wanted.map((entry) => frameOf(entry, conversation)), isOver: end !== -1 };
      }
    },
    close: follower.close,
  };
}

/** Waits until the turn has settled or waits for an answer itself, and answers it as it is then or when the time is over. */
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
      // Whoever is to answer may be the one who waits here.
      if (isAsking && (await isAwaited(db, turn))) return turn;
    }
  } finally {
    follower.close();
  }
}

async function isAwaited(db: Database, { id, conversation_id }: TurnRow): Promise<boolean> {
  return (await pendingInteractions(db, [conversation_id])).some(({ turn_id }) => turn_id === id);
}

const asks = ({ type, turn_id }: LogEntry, turnId: string) =>
  (type === 'interaction.created' || type === 'tool_call.created') && turn_id === turnId;

const settles = ({ type, turn_id }: LogEntry, turnId: string) => type === 'turn.settled' && turn_id === turnId;

const frameOf = (entry: LogEntry, { deployment_id }: Followed) => ({
  id: String(entry.seq),
  event: entry.type,
  data: presentLogEntry(entry, deployment_id),
});
