import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { NotifyListener } from '../db/notify-listener.ts';
import type { Database } from '../db/pool.ts';
import { one, run } from '../db/query.ts';
import { sql } from '../db/sql.ts';
import { boolean } from '../db/table.ts';

/**
 * The kinds of notification between processes on one database. Each says only that rows changed: the rows are the truth,
 * so a missed notification costs time and nothing else.
 */
const kinds = [
  'conversation',
  'test_run',
  'run',
  'credential',
  'computer',
  'money_wanted',
  'money_freed',
  'tool_call',
  'function_endpoint',
  'voice_call',
  'batch',
] as const;

type News = (typeof kinds)[number];

/**
 * Whether listeners in the sending process are notified too. A process that appends to a log passes the entries to its own
 * followers directly. Requests for computers and money concern other processes only.
 */
const notifiesSelf: Record<News, boolean> = {
  conversation: false,
  test_run: true,
  run: true,
  credential: true,
  computer: false,
  money_wanted: false,
  money_freed: false,
  tool_call: true,
  function_endpoint: true,
  voice_call: true,
  batch: false,
};

export type ClusterNotifications = {
  /** Notifies other processes soon, and listeners in this process at once if `notifiesSelf` has the kind. */
  notify: (kind: News, id: string) => void;
  /** The id is null if notifications may have been lost, so any row may have changed. */
  on: (kind: News, listener: (id: string | null) => void) => void;
  /** The number of processes that run tasks, this one included. 1 if the others cannot be reached. */
  countWorkers: () => number;
  stop: () => Promise<void>;
};

/** Older versions use this name, and during an upgrade both versions run. */
const newsChannel = 'vestra_bell';
/** A separate channel, because versions without hellos would log a warning for each one. */
const helloChannel = 'vestra_hello';
const coalesceMs = 20;
const retryMs = 1_000;
/** Below the 8,000 bytes that one notification may carry. */
const idsPerNotification = 150;

const newsPayload = z.object({ from: z.string(), kind: z.enum(kinds), ids: z.array(z.string()) });
const helloPayload = z.object({
  from: z.string(),
  /** The sender has just connected and knows no other process. */
  asks: z.boolean(),
  /** The sender has dropped notifications since its last hello, because it knew of no other process. */
  held_back: z.boolean(),
  /** Absent in hellos of older versions, which mostly run tasks. */
  runs_tasks: z.boolean().default(true),
});

/**
 * Coalesces notifications and sends them outside every transaction, because NOTIFY inside one serialises all commits of the
 * database. A process that is alone sends nothing. A new process says hello and gets notifications from then on. If any
 * were dropped before, the reply to its hello says so.
 */
export async function createClusterNotifications(options: {
  db: Database;
  line: NotifyListener;
  log: Logger;
  helloMs?: number | undefined;
  runsTasks?: boolean;
  notify?: Notify;
}): Promise<ClusterNotifications> {
  const { db, line, log, helloMs = usualHelloMs, runsTasks = true, notify = notifying(db) } = options;
  const self = randomUUID();
  const presence = createPresence(self, helloMs);
  const listeners = new Map<News, ((id: string | null) => void)[]>();
  const waiting = new Map<News, Set<string>>();
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> = Promise.resolve();
  let isStopped = false;
  let hasStarted = false;
  let hasHeldBack = false;
  let isHelloOwed = false;

  const emit = (kind: News, id: string | null) => {
    for (const listener of listeners.get(kind) ?? []) listener(id);
  };
  const emitAll = () => {
    for (const kind of kinds) emit(kind, null);
  };

  await line.hear(newsChannel, {
    onMessage(payload) {
      const news = read(newsPayload, payload);
      if (isStopped) return;
      if (!news) return log.warn('ignored a cluster notification that cannot be parsed');
      if (news.from === self) return;
      presence.seen(news.from);
      for (const id of news.ids) emit(news.kind, id);
    },
    onConnect() {
      if (hasStarted) emitAll();
    },
  });
  await line.hear(helloChannel, {
    onMessage(payload) {
      const hello = read(helloPayload, payload);
      if (isStopped) return;
      if (!hello) return log.warn('ignored a cluster hello that cannot be parsed');
      const isUnknown = presence.seen(hello.from, hello.runs_tasks);
      if (hello.from === self) return;
      if (hello.held_back) emitAll();
      if (hello.asks || isUnknown) void sayHello(false);
    },
    onConnect() {
      presence.up();
      void sayHello(true);
    },
    onLoss: presence.down,
  });
  // Set this even if the first connection failed: notifications sent until it succeeds are lost.
  hasStarted = true;
  const helloTimer = setInterval(() => void sayHello(false), helloMs);
  helloTimer.unref();

  async function sayHello(asks: boolean): Promise<void> {
    if (isStopped) return;
    const held_back = hasHeldBack;
    hasHeldBack = false;
    try {
      await notify(helloChannel, JSON.stringify({ from: self, asks, held_back, runs_tasks: runsTasks }));
      if (await isVersion01Connected(db)) presence.seen('a process of version 0.1');
    } catch (error) {
      hasHeldBack ||= held_back;
      log.warn({ err: error }, 'could not announce this process to the others; retrying');
      if (isHelloOwed) return;
      isHelloOwed = true;
      setTimeout(() => {
        isHelloOwed = false;
        void sayHello(true);
      }, retryMs).unref();
    }
  }

  function sendIn(ms: number): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      sending = sending.then(send);
    }, ms);
  }

  async function send(): Promise<void> {
    const notices = [...waiting].flatMap(([kind, ids]) => splitIntoNotifications(kind, [...ids]));
    waiting.clear();
    for (const notice of notices) {
      if (presence.isAlone()) {
        hasHeldBack = true;
        continue;
      }
      await notify(newsChannel, JSON.stringify({ from: self, ...notice })).catch((error: unknown) => {
        log.warn({ err: error }, 'could not notify other processes; retrying');
        for (const id of notice.ids) enqueue(notice.kind, id);
        if (!isStopped) sendIn(retryMs);
      });
    }
  }

  function enqueue(kind: News, id: string): void {
    waiting.set(kind, (waiting.get(kind) ?? new Set()).add(id));
  }

  return {
    notify(kind, id) {
      if (notifiesSelf[kind]) emit(kind, id);
      if (isStopped) return;
      enqueue(kind, id);
      sendIn(coalesceMs);
    },
    on(kind, listener) {
      listeners.set(kind, [...(listeners.get(kind) ?? []), listener]);
    },
    countWorkers: presence.countWorkers,
    async stop() {
      isStopped = true;
      clearInterval(helloTimer);
      clearTimeout(timer);
      await sending;
      await send();
    },
  };
}

/** Null for an unknown format, which a process of another version may send. */
function read<T>(schema: z.ZodType<T>, payload: string): T | null {
  try {
    return schema.parse(JSON.parse(payload));
  } catch {
    return null;
  }
}

function splitIntoNotifications(kind: News, ids: readonly string[]): { kind: News; ids: readonly string[] }[] {
  return Array.from({ length: Math.ceil(ids.length / idsPerNotification) }, (_, at) => ({
    kind,
    ids: ids.slice(at * idsPerNotification, (at + 1) * idsPerNotification),
  }));
}

/** Sends the payload to all listeners of the channel. */
type Notify = (channel: string, payload: string) => Promise<void>;

export const notifying =
  (db: Database): Notify =>
  async (channel, payload) => {
    await run(db, sql`SELECT pg_notify(${channel}, ${payload})`);
  };

/** Processes of version 0.1 send no hello. They are found by the name of their connection. */
async function isVersion01Connected(db: Database): Promise<boolean> {
  const { found } = await one(
    db,
    { found: boolean() },
    sql`SELECT EXISTS (SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'vestra news listener') AS found`,
  );
  return found;
}

/** Tracks which other processes listen on this database. */
export type Presence = {
  /** The own connection is up. Forgets all processes, which must say hello again. */
  up: () => void;
  down: () => void;
  /** Returns true if the process was unknown. */
  seen: (from: string, runsTasks?: boolean) => boolean;
  /**
   * True if no other process has sent anything for a while. Requires an own hello that came back, because on a connection
   * that delivers nothing every process seems to be alone.
   */
  isAlone: () => boolean;
  /** Processes that run tasks, at least 1. While the own connection is down, 1. */
  countWorkers: () => number;
};

/** How often a process says hello. It is forgotten after three times as long. */
const usualHelloMs = 20_000;

export function createPresence(self: string, helloMs: number, now = () => performance.now()): Presence {
  const seenAt = new Map<string, number>();
  const idle = new Set<string>();
  const forgetMs = 3 * helloMs;
  // A reply takes milliseconds, or a second or two from a busy process.
  const repliesWithinMs = helloMs / 4;
  let upSince: number | null = null;

  return {
    up() {
      seenAt.clear();
      upSince = now();
    },
    down() {
      upSince = null;
    },
    seen(from, runsTasks) {
      if (runsTasks === false) idle.add(from);
      forgetSilent();
      const isUnknown = !seenAt.has(from);
      seenAt.set(from, now());
      return isUnknown;
    },
    isAlone() {
      if (upSince === null || now() - upSince < repliesWithinMs) return false;
      forgetSilent();
      return seenAt.size === 1 && seenAt.has(self);
    },
    countWorkers() {
      if (upSince === null) return 1;
      forgetSilent();
      return Math.max(1, [...seenAt.keys()].filter((each) => !idle.has(each)).length);
    },
  };

  function forgetSilent(): void {
    const oldest = now() - forgetMs;
    for (const [from, at] of seenAt) {
      if (at >= oldest) continue;
      seenAt.delete(from);
      idle.delete(from);
    }
  }
}
