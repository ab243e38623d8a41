import { sharedNow } from '../../platform/db/clock.ts';
import type { Database } from '../../platform/db/pool.ts';
import { type LogEntry, readLog } from './conversation-log.ts';

type Follower = {
  /** The next entries, in order and without gaps. Empty if none came within `withinMs` or the follower was closed. */
  next: (withinMs: number) => Promise<readonly LogEntry[]>;
  /** Reads the log again, and ends the current wait even if there is nothing new. */
  look: () => void;
  /** The conversation was deleted, so nothing follows. */
  isEnded: () => boolean;
  close: () => void;
};

export type Followers = {
  /**
   * Follows a conversation after this seq: first the stored entries, then new ones. A process that has just committed
   * the entries after that seq passes them as `written`. Then they need not be read.
   */
  follow: (conversationId: string, after: number, written?: readonly LogEntry[] | null) => Follower;
  /** Passes entries to the followers in this process. Call it after the commit. */
  publish: (conversationId: string, entries: readonly LogEntry[]) => void;
  /** The conversation was changed elsewhere, or deleted. Null: any may be. */
  wake: (conversationId: string | null) => void;
  /** Whether this process has a follower of the conversation. */
  isFollowed: (conversationId: string) => boolean;
};

/** The inbox of a slow reader is limited. Beyond this, it reads from the database again. */
const maxWaiting = 256;
const rowsPerRead = 200;

/** Receives the milliseconds between the write of an event and its delivery to a follower. */
type LagObserver = (lagMs: number) => void;

export function createFollowers(
  db: Database,
  {
    read = readLog,
    exists = async () => true,
    onDelivered = () => {},
  }: {
    read?: typeof readLog;
    exists?: (conversationId: string) => Promise<boolean>;
    onDelivered?: LagObserver;
  } = {},
): Followers {
  const byConversation = new Map<string, Set<ReturnType<typeof createInbox>>>();

  return {
    follow(conversationId, after, written = null) {
      const inbox = createInbox(
        { read: (page) => read(db, conversationId, page), exists: () => exists(conversationId) },
        after,
        written,
      );
      const since = sharedNow();
      const next = async (withinMs: number) => {
        const entries = await inbox.next(withinMs);
        // Entries that are older than this follower are not late.
        const first = entries.find(({ created_at }) => created_at.getTime() >= since);
        if (first) onDelivered(Math.max(0, sharedNow() - first.created_at.getTime()));
        return entries;
      };
      const others = byConversation.get(conversationId) ?? new Set();
      byConversation.set(conversationId, others.add(inbox));
      return {
        next,
        look: inbox.look,
        isEnded: inbox.isEnded,
        close() {
          inbox.close();
          others.delete(inbox);
          if (others.size === 0 && byConversation.get(conversationId) === others) byConversation.delete(conversationId);
        },
      };
    },
    publish(conversationId, entries) {
      for (const inbox of byConversation.get(conversationId) ?? []) inbox.receive(entries);
    },
    wake(conversationId) {
      const woken =
        conversationId === null
          ? [...byConversation.values()].flatMap((each) => [...each])
          : (byConversation.get(conversationId) ?? []);
      for (const inbox of woken) inbox.onChange();
    },
    isFollowed: (conversationId) => byConversation.has(conversationId),
  };
}

function createInbox(
  {
    read,
    exists,
  }: {
    read: (page: { after: number; limit: number }) => Promise<LogEntry[]>;
    exists: () => Promise<boolean>;
  },
  after: number,
  written: readonly LogEntry[] | null,
) {
  let given = after;
  let waiting: LogEntry[] = [...(written ?? [])];
  let isBehind = written === null;
  let isClosed = false;
  let isWaitOver = false;
  /** A change without new entries may be a deletion. */
  let mayBeDeleted = false;
  let isEnded = false;
  let wake = () => {};

  const lastKnown = () => waiting.at(-1)?.seq ?? given;

  function receive(entries: readonly LogEntry[]): void {
    if (!isBehind) {
      const fresh = entries.filter(({ seq }) => seq > lastKnown());
      const isNext = fresh.length === 0 || fresh[0]?.seq === lastKnown() + 1;
      if (isNext && waiting.length + fresh.length <= maxWaiting) waiting.push(...fresh);
      else fallBehind();
    }
    wake();
  }

  function fallBehind(): void {
    waiting = [];
    isBehind = true;
  }

  async function readRows(): Promise<LogEntry[]> {
    // Set this before the read, so that entries published during the read are received and none is missed.
    isBehind = false;
    const rows = await read({ after: given, limit: rowsPerRead });
    given = rows.at(-1)?.seq ?? given;
    waiting = waiting.filter(({ seq }) => seq > given);
    const hasGap = waiting.length > 0 && waiting[0]?.seq !== given + 1;
    if (hasGap || rows.length === rowsPerRead) fallBehind();
    return rows;
  }

  async function next(withinMs: number): Promise<readonly LogEntry[]> {
    const deadline = performance.now() + withinMs;
    while (!isClosed) {
      if (waiting.length > 0) {
        const taken = waiting;
        waiting = [];
        given = taken.at(-1)?.seq ?? given;
        return taken;
      }
      if (isBehind) {
        const rows = await readRows();
        if (rows.length > 0) return rows;
        if (mayBeDeleted) {
          mayBeDeleted = false;
          isEnded = !(await exists());
        }
        if (isEnded) return [];
        continue;
      }
      const leftMs = deadline - performance.now();
      if (leftMs <= 0 || isWaitOver) {
        isWaitOver = false;
        return [];
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    return [];
  }

  function lookAgain(): void {
    isBehind = true;
    waiting = [];
    wake();
  }

  return {
    receive,
    next,
    isEnded: () => isEnded,
    onChange() {
      mayBeDeleted = true;
      lookAgain();
    },
    look() {
      isWaitOver = true;
      lookAgain();
    },
    close() {
      isClosed = true;
      wake();
    },
  };
}
