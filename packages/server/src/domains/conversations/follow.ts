import type { Database } from '../../db/pool.ts';
import type { FrameSource } from '../../http/sse.ts';
import { findTurn, isOver, presentLogEntry, type TurnRow } from '../engine/api.ts';
import type { Followers, LogEntry } from '../events/api.ts';

type Followed = { id: string; deployment_id: string | null };

/** A conversation's events from some point on, for ever. `taskId`: one task's alone. */
export function followConversation(
  followers: Followers,
  conversation: Followed,
  { after, taskId }: { after: number; taskId: string | null },
): FrameSource {
  const follower = followers.follow(conversation.id, after);
  return {
    async next(withinMs) {
      const entries = await follower.next(withinMs);
      const wanted = taskId === null ? entries : entries.filter(({ task_id }) => task_id === taskId);
      return { frames: wanted.map((entry) => frameOf(entry, conversation)), isOver: false };
    },
    close: follower.close,
  };
}

/** One turn's events, from its first to `turn.settled`. */
export function followTurn(
  followers: Followers,
  conversation: Followed,
  { turnId, after }: { turnId: string; after: number },
): FrameSource {
  const follower = followers.follow(conversation.id, after);
  return {
    async next(withinMs) {
      const entries = await follower.next(withinMs);
      const end = entries.findIndex((entry) => settles(entry, turnId));
      const wanted = (end === -1 ? entries : entries.slice(0, end + 1)).filter(({ turn_id }) => turn_id === turnId);
      return { frames: wanted.map((entry) => frameOf(entry, conversation)), isOver: end !== -1 };
    },
    close: follower.close,
  };
}

/** Waits until the turn has settled, and answers it as it is then or when the time is over. */
export async function waitForTurn(
  { db, followers }: { db: Database; followers: Followers },
  { turnId, conversationId, after }: { turnId: string; conversationId: string; after: number },
  { withinMs, signal }: { withinMs: number; signal: AbortSignal },
): Promise<TurnRow> {
  const follower = followers.follow(conversationId, after);
  signal.addEventListener('abort', follower.close, { once: true });
  try {
    const deadline = Date.now() + withinMs;
    for (;;) {
      const leftMs = deadline - Date.now();
      const entries = leftMs > 0 && !signal.aborted ? await follower.next(leftMs) : [];
      if (entries.length > 0 && !entries.some((entry) => settles(entry, turnId))) continue;
      const turn = (await findTurn(db, turnId)) as TurnRow;
      if (isOver(turn.state) || leftMs <= 0 || signal.aborted) return turn;
    }
  } finally {
    follower.close();
  }
}

const settles = ({ type, turn_id }: LogEntry, turnId: string) => type === 'turn.settled' && turn_id === turnId;

const frameOf = (entry: LogEntry, { deployment_id }: Followed) => ({
  id: String(entry.seq),
  event: entry.type,
  data: presentLogEntry(entry, deployment_id),
});
