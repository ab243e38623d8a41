import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Line } from './listen.ts';
import type { Database } from './pool.ts';
import { createPresence, usualHelloMs } from './presence.ts';
import { one, run } from './query.ts';
import { sql } from './sql.ts';
import { boolean } from './table.ts';

/**
 * What processes on one database tell each other: a conversation's log has grown, a test run has got further, a run was
 * stopped, a key or session was revoked, a computer is wanted elsewhere, money is waited for or has become free, a call of
 * a deployment's functions waits, who answers them has changed, or a session calls by voice. The rows are the truth: whoever misses a notice loses
 * time and nothing else.
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
] as const;

type News = (typeof kinds)[number];

/**
 * Whoever grows a log hands the entries to the followers of its own process: to read them again would be for nothing.
 * Whoever asks for a computer asks the others, and whoever waits for money or frees some knows it.
 */
const heardHere: Record<News, boolean> = {
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
};

export type ProcessNews = {
  /** Tells the others soon, and of what is also heard here the listeners of this process at once. */
  notify: (kind: News, id: string) => void;
  /** Null: something may not have been heard, so anything may have happened. */
  on: (kind: News, listener: (id: string | null) => void) => void;
  stop: () => Promise<void>;
};

/** As processes of the versions before call it: during an upgrade both are there. */
const newsChannel = 'vestra_bell';
/** Apart from the news: a process of a version without hellos would complain of each. */
const helloChannel = 'vestra_hello';
const joinedMs = 20;
const againMs = 1_000;
/** Below the 8,000 bytes that one notification may carry. */
const idsPerNotice = 150;

const newsPayload = z.object({ from: z.string(), kind: z.enum(kinds), ids: z.array(z.string()) });
const helloPayload = z.object({
  from: z.string(),
  /** Its line has just come up, so that it knows nobody. */
  asks: z.boolean(),
  /** It has kept news to itself since its last hello, because it knew of nobody. */
  held_back: z.boolean(),
});

/**
 * Notices are joined and sent outside every transaction: a NOTIFY inside one makes all commits of the database wait for
 * each other. Where nobody else is there, nothing is sent. Whoever comes says hello and is told from then on; what
 * was kept back until then it learns from the answer, which says that something was.
 */
export async function createProcessNews(options: {
  db: Database;
  line: Line;
  log: Logger;
  helloMs?: number | undefined;
  notify?: Notify;
}): Promise<ProcessNews> {
  const { db, line, log, helloMs = usualHelloMs, notify = notifying(db) } = options;
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

  const tell = (kind: News, id: string | null) => {
    for (const listener of listeners.get(kind) ?? []) listener(id);
  };
  const tellAnything = () => {
    for (const kind of kinds) tell(kind, null);
  };

  await line.hear(newsChannel, {
    onMessage(payload) {
      const news = read(newsPayload, payload);
      if (isStopped) return;
      if (!news) return log.warn('news came that cannot be read; it is left alone');
      if (news.from === self) return;
      presence.hear(news.from);
      for (const id of news.ids) tell(news.kind, id);
    },
    onConnect() {
      if (hasStarted) tellAnything();
    },
  });
  await line.hear(helloChannel, {
    onMessage(payload) {
      const hello = read(helloPayload, payload);
      if (isStopped) return;
      if (!hello) return log.warn('a hello came that cannot be read; it is left alone');
      const isUnknown = presence.hear(hello.from);
      if (hello.from === self) return;
      if (hello.held_back) tellAnything();
      if (hello.asks || isUnknown) void sayHello(false);
    },
    onConnect() {
      presence.up();
      void sayHello(true);
    },
    onLoss: presence.down,
  });
  // Also where the first attempt failed: what was told until the line is there has been missed.
  hasStarted = true;
  const greeting = setInterval(() => void sayHello(false), helloMs);
  greeting.unref();

  async function sayHello(asks: boolean): Promise<void> {
    if (isStopped) return;
    const held_back = hasHeldBack;
    hasHeldBack = false;
    try {
      await notify(helloChannel, JSON.stringify({ from: self, asks, held_back }));
      if (await isOlderThere(db)) presence.hear('a process of version 0.1');
    } catch (error) {
      hasHeldBack ||= held_back;
      log.warn({ err: error }, 'other processes could not be greeted; trying again');
      if (isHelloOwed) return;
      isHelloOwed = true;
      setTimeout(() => {
        isHelloOwed = false;
        void sayHello(true);
      }, againMs).unref();
    }
  }

  function sendIn(ms: number): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      sending = sending.then(send);
    }, ms);
  }

  async function send(): Promise<void> {
    const notices = [...waiting].flatMap(([kind, ids]) => noticesOf(kind, [...ids]));
    waiting.clear();
    for (const notice of notices) {
      if (presence.isAlone()) {
        hasHeldBack = true;
        continue;
      }
      await notify(newsChannel, JSON.stringify({ from: self, ...notice })).catch((error: unknown) => {
        log.warn({ err: error }, 'other processes could not be told; trying again');
        for (const id of notice.ids) keep(notice.kind, id);
        if (!isStopped) sendIn(againMs);
      });
    }
  }

  function keep(kind: News, id: string): void {
    waiting.set(kind, (waiting.get(kind) ?? new Set()).add(id));
  }

  return {
    notify(kind, id) {
      if (heardHere[kind]) tell(kind, id);
      if (isStopped) return;
      keep(kind, id);
      sendIn(joinedMs);
    },
    on(kind, listener) {
      listeners.set(kind, [...(listeners.get(kind) ?? []), listener]);
    },
    async stop() {
      isStopped = true;
      clearInterval(greeting);
      clearTimeout(timer);
      await sending;
      await send();
    },
  };
}

/** A process of another version may say other things. */
function read<T>(schema: z.ZodType<T>, payload: string): T | null {
  try {
    return schema.parse(JSON.parse(payload));
  } catch {
    return null;
  }
}

function noticesOf(kind: News, ids: readonly string[]): { kind: News; ids: readonly string[] }[] {
  return Array.from({ length: Math.ceil(ids.length / idsPerNotice) }, (_, at) => ({
    kind,
    ids: ids.slice(at * idsPerNotice, (at + 1) * idsPerNotice),
  }));
}

/** Tells all that listen to the channel. */
type Notify = (channel: string, payload: string) => Promise<void>;

export const notifying =
  (db: Database): Notify =>
  async (channel, payload) => {
    await run(db, sql`SELECT pg_notify(${channel}, ${payload})`);
  };

/** A process of version 0.1 says no hello; it is known by the name of its connection. */
async function isOlderThere(db: Database): Promise<boolean> {
  const { found } = await one(
    db,
    { found: boolean() },
    sql`SELECT EXISTS (SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'vestra news listener') AS found`,
  );
  return found;
}
