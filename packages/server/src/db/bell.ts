import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { z } from 'zod';
import { listen } from './listen.ts';
import type { Database } from './pool.ts';
import { runPrepared } from './prepared.ts';

/**
 * What processes on one database tell each other: a conversation's log has grown, a test run has got further, a run was
 * stopped, a key or session was revoked, a computer is wanted elsewhere, money is waited for or has become free. The rows are the truth: whoever misses a ring loses time and nothing else.
 */
const kinds = ['conversation', 'test_run', 'run', 'credential', 'computer', 'money_wanted', 'money_freed'] as const;

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
};

export type Bell = {
  /** Tells the others soon, and of runs, test runs and credentials the listeners of this process at once. */
  ring: (kind: News, id: string) => void;
  /** Null: the line was down, so anything may have happened. */
  on: (kind: News, listener: (id: string | null) => void) => void;
  stop: () => Promise<void>;
};

const channel = 'vestra_bell';
const joinedMs = 20;
const againMs = 1_000;
/** Below the 8,000 bytes that one notification may carry. */
const idsPerRing = 150;

const envelope = z.object({ from: z.string(), kind: z.enum(kinds), ids: z.array(z.string()) });

const notify = { name: 'ring', text: `SELECT pg_notify('${channel}', $1)` };

/**
 * Rings are joined and sent outside every transaction: a NOTIFY inside one makes all commits of the database wait for
 * each other.
 */
export async function createBell(options: { db: Database; connectionString: string; log: Logger }): Promise<Bell> {
  const { db, connectionString, log } = options;
  const self = randomUUID();
  const listeners = new Map<News, ((id: string | null) => void)[]>();
  const waiting = new Map<News, Set<string>>();
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> = Promise.resolve();
  let isStopped = false;
  let isUp = false;

  const tell = (kind: News, id: string | null) => {
    for (const listener of listeners.get(kind) ?? []) listener(id);
  };

  const line = await listen({
    connectionString,
    channel,
    purpose: 'news',
    log,
    onMessage(payload) {
      const news = readNews(payload);
      if (!news) return log.warn('news came that cannot be read; it is left alone');
      if (news.from !== self) for (const id of news.ids) tell(news.kind, id);
    },
    onConnect() {
      if (isUp) for (const kind of kinds) tell(kind, null);
    },
  });
  // Also where the first attempt failed: what was rung until the line is there has been missed.
  isUp = true;

  function sendIn(ms: number): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      sending = sending.then(send);
    }, ms);
  }

  async function send(): Promise<void> {
    const rings = [...waiting].flatMap(([kind, ids]) => ringsOf(kind, [...ids]));
    waiting.clear();
    for (const ring of rings) {
      await runPrepared(db, notify, [JSON.stringify({ from: self, ...ring })]).catch((error: unknown) => {
        log.warn({ err: error }, 'other processes could not be told; trying again');
        for (const id of ring.ids) keep(ring.kind, id);
        if (!isStopped) sendIn(againMs);
      });
    }
  }

  function keep(kind: News, id: string): void {
    waiting.set(kind, (waiting.get(kind) ?? new Set()).add(id));
  }

  return {
    ring(kind, id) {
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
      clearTimeout(timer);
      await sending;
      await send();
      await line.close();
    },
  };
}

/** A process of another version may know other news. */
function readNews(payload: string): z.infer<typeof envelope> | null {
  try {
    return envelope.parse(JSON.parse(payload));
  } catch {
    return null;
  }
}

function ringsOf(kind: News, ids: readonly string[]): { kind: News; ids: readonly string[] }[] {
  return Array.from({ length: Math.ceil(ids.length / idsPerRing) }, (_, at) => ({
    kind,
    ids: ids.slice(at * idsPerRing, (at + 1) * idsPerRing),
  }));
}
