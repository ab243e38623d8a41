import { setTimeout as pause } from 'node:timers/promises';
import { Failure, fail } from '@vestra/contract/errors';
import type { Logger } from 'pino';
import { computerRuns, meteringComputer } from '../engine/index.ts';
import type { AskProcess, Peer } from '../platform/cluster/ask-process.ts';
import { PeerAway, PeerLost } from '../platform/cluster/call-failure.ts';
import { isDatabaseAway } from '../platform/db/away.ts';
import type { Database } from '../platform/db/pool.ts';
import type { Frame, FrameSource } from '../platform/http/sse.ts';
import type { Hosts } from './computer-hosts.ts';
import { type Computers, HeldElsewhere } from './running-computer.ts';
import { findHolder, type Owner } from './store.ts';

/** Something that is done with the computer of an owner. What is given and answered travels between processes as it is. */
export type Work<Given, Answer> = (owner: Owner, given: Given, signal: AbortSignal) => Promise<Answer>;

/**
 * A computer is awake in one process, with its browser, its tabs and whoever looks at it or drives it. Whatever is asked
 * of it anywhere is done there.
 */
export type Holders = {
  /** The same work, done by whoever has the computer. Where it sleeps it is woken, or `ifAsleep` answers. */
  atHolder: <Given, Answer>(
    name: string,
    work: Work<Given, Answer>,
    options?: { ifAsleep?: () => Answer },
  ) => Work<Given, Answer>;
  /** The same for what goes on. Of what a slow reader has not taken, `merge` keeps what is still worth showing. */
  streamAtHolder: <Given>(
    name: string,
    open: (owner: Owner, given: Given) => FrameSource,
    merge: RemoteMerge,
  ) => (owner: Owner, given: Given) => Promise<FrameSource>;
  isAwake: (owner: Owner) => Promise<boolean>;
  /** What another process asked of this one, which it answers message by message. */
  answer: (name: string, asked: unknown, signal: AbortSignal) => AsyncIterable<Message>;
  /** Whoever looks on from another process looks elsewhere from now on. */
  endStreams: () => void;
};

type Message =
  | { kind: 'runs' }
  | { kind: 'done'; answer: unknown }
  | { kind: 'open' }
  | { kind: 'frames'; frames: readonly Frame[] }
  | { kind: 'elsewhere' }
  | { kind: 'failed'; code: Failure['code']; details: Failure['details'] };

type Asked = { owner: Owner; given: unknown };

type Where = { kind: 'here' } | { kind: 'asleep' } | { kind: 'there'; peer: Peer; heldUntil: Date };

/** Above the lease, so that a computer whose process died is taken over and not given up. */
const patienceMs = 60_000;
const askAgainMs = 100;
const streamBeatMs = 5_000;

export function createHolders(options: {
  db: Database;
  computers: Computers;
  hosts: Hosts;
  /** Whether computers are awake in this process, or in others alone. */
  isHost: boolean;
  ask: AskProcess;
  log: Logger;
}): Holders {
  const { db, computers, hosts, isHost, ask, log } = options;
  const works = new Map<string, Work<never, unknown>>();
  const streams = new Map<string, (owner: Owner, given: never) => FrameSource>();
  const watched = new Set<FrameSource>();

  async function whereIs(owner: Owner): Promise<Where> {
    if (computers.ifAwake(owner)) return { kind: 'here' };
    const holder = await findHolder(db, owner);
    if (!holder) return { kind: 'asleep' };
    if (holder.id === computers.self) return { kind: 'here' };
    // A process of an older version says nowhere where it is: the computer is waited for here.
    if (holder.address === null) return { kind: 'here' };
    return { kind: 'there', peer: { id: holder.id, address: holder.address }, heldUntil: holder.heldUntil };
  }

  /** Tries until somebody has done it: between a look at the row and the work the computer may have moved on. */
  async function reach<Answer>(
    owner: Owner,
    signal: AbortSignal,
    ways: {
      here: () => Promise<Answer>;
      there: (peer: Peer) => Promise<Answer>;
      ifAsleep?: (() => Answer) | undefined;
    },
  ): Promise<Answer> {
    const deadline = performance.now() + patienceMs;
    const unreached = new Map<string, Date | null>();
    for (;;) {
      if (signal.aborted) throw unavailable('Nobody waited for the answer.');
      const where = await whereIs(owner);
      if (where.kind === 'asleep' && ways.ifAsleep) return ways.ifAsleep();
      const peer = where.kind === 'there' ? where.peer : isHost ? null : await hosts.choose(owner, unreached);
      try {
        return await (peer ? ways.there(peer) : ways.here());
      } catch (error) {
        if (signal.aborted && peer) throw unavailable('Nobody waited for the answer.');
        if (error instanceof PeerLost) throw lost();
        if (!(error instanceof HeldElsewhere) && !(error instanceof PeerAway)) throw error;
        if (performance.now() > deadline) throw unavailable('This computer moves from process to process. Try again.');
        if (peer && error instanceof PeerAway) noteUnreached(peer, where, error);
      }
      await pause(askAgainMs, undefined, { signal }).catch(() => {});
    }

    /** One that died holds the computer until its lease ends; one that renews it lives, and only cannot be reached. */
    function noteUnreached(peer: Peer, where: Where, { message }: PeerAway): void {
      const heldUntil = where.kind === 'there' ? where.heldUntil : null;
      const before = unreached.get(peer.id);
      unreached.set(peer.id, before ?? heldUntil);
      if (!before || !heldUntil || heldUntil <= before) return;
      log.error(
        { address: peer.address, reason: message },
        'the process that has a computer cannot be reached from this one: its VESTRA_INTERNAL_URL must name an address that every other process reaches',
      );
      throw unavailable(
        `This computer is awake in a process of the server that this one cannot reach at ${peer.address} (${message}). Let its VESTRA_INTERNAL_URL name an address that the others reach.`,
      );
    }
  }

  async function callThere<Answer>(peer: Peer, name: string, asked: Asked, signal: AbortSignal): Promise<Answer> {
    for await (const message of ask(peer, name, asked, signal) as AsyncIterable<Message>) {
      if (message.kind === 'runs') await computerRuns();
      else if (message.kind === 'done') return message.answer as Answer;
      else throwIfRefused(message);
    }
    throw new PeerLost('it ended without an answer');
  }

  return {
    atHolder(name, work, { ifAsleep } = {}) {
      works.set(name, work as Work<never, unknown>);
      return (owner, given, signal) =>
        reach(owner, signal, {
          here: () => work(owner, given, signal),
          there: (peer) => callThere(peer, name, { owner, given }, signal),
          ifAsleep,
        });
    },
    streamAtHolder(name, open, merge) {
      streams.set(name, open as (owner: Owner, given: never) => FrameSource);
      return (owner, given) => {
        const ending = new AbortController();
        return reach<FrameSource>(owner, ending.signal, {
          here: async () => open(owner, given),
          async there(peer) {
            const messages = (ask(peer, name, { owner, given }, ending.signal) as AsyncIterable<Message>)[
              Symbol.asyncIterator
            ]();
            const first = await messages.next();
            if (first.done) throw new PeerLost('it ended without an answer');
            throwIfRefused(first.value);
            return remoteFrames(framesIn(messages), { merge, end: () => ending.abort() });
          },
        });
      };
    },
    isAwake: async (owner) => (await whereIs(owner)).kind !== 'asleep',
    async *answer(name, asked, signal) {
      const { owner, given } = asked as { owner: Owner; given: never };
      const [work, open] = [works.get(name), streams.get(name)];
      if (!work && !open)
        return yield failed(
          fail('computer_unavailable', { message: 'The processes of this server are of different versions.' }),
        );
      if (!isHost || (await whereIs(owner)).kind === 'there') return yield { kind: 'elsewhere' };
      if (work) yield* answerCall((report) => meteringComputer(report, () => work(owner, given, signal)), log);
      if (open) yield* answerStream(open(owner, given), signal);
    },
    endStreams() {
      for (const source of watched) source.close();
    },
  };

  async function* answerStream(source: FrameSource, signal: AbortSignal): AsyncGenerator<Message> {
    const end = () => source.close();
    signal.addEventListener('abort', end, { once: true });
    watched.add(source);
    try {
      yield { kind: 'open' };
      for (;;) {
        const { frames, isOver } = await source.next(streamBeatMs);
        if (frames.length > 0) yield { kind: 'frames', frames };
        if (isOver || signal.aborted) return;
      }
    } finally {
      watched.delete(source);
      end();
    }
  }
}

/** The answer, and before it that the computer runs: whoever asked pays from then on, whatever becomes of the connection. */
async function* answerCall(
  run: (report: () => Promise<void>) => Promise<unknown>,
  log: Logger,
): AsyncGenerator<Message> {
  const started = Promise.withResolvers<Message>();
  const outcome = run(async () => started.resolve({ kind: 'runs' })).then(
    (answer): Message => ({ kind: 'done', answer }),
    (error: unknown) => refused(error, log),
  );
  const first = await Promise.race([started.promise, outcome]);
  yield first;
  if (first.kind === 'runs') yield await outcome;
}

function refused(error: unknown, log: Logger): Message {
  if (error instanceof HeldElsewhere) return { kind: 'elsewhere' };
  if (error instanceof Failure) return failed(error);
  if (isDatabaseAway(error)) return failed(fail('not_ready', { message: 'The database is away. Try again shortly.' }));
  log.error({ err: error }, 'a call of another process failed');
  return failed(fail('internal_error'));
}

const failed = ({ code, details }: Failure): Message => ({ kind: 'failed', code, details });

function throwIfRefused(message: Message): void {
  if (message.kind === 'elsewhere') throw new HeldElsewhere();
  if (message.kind === 'failed') throw fail(message.code, message.details);
}

async function* framesIn(messages: AsyncIterator<Message>): AsyncGenerator<readonly Frame[]> {
  for (let turn = await messages.next(); !turn.done; turn = await messages.next()) {
    if (turn.value.kind === 'frames') yield turn.value.frames;
  }
}

const unavailable = (message: string) => fail('computer_unavailable', { message });

const lost = () =>
  unavailable(
    'The process that has this computer went away in the middle of the call. Whether it took effect is unknown.',
  );

/** What is left to show of what was not yet taken once more has come. */
export type RemoteMerge = (held: readonly Frame[], more: readonly Frame[]) => readonly Frame[];

/**
 * Frames of another process. They are read as they come, whether anybody takes them or not: what waited in between on the
 * way would be shown late, and might be something that nobody is to see any more.
 */
function remoteFrames(
  arriving: AsyncIterable<readonly Frame[]>,
  { merge, end }: { merge: RemoteMerge; end: () => void },
): FrameSource {
  let held: readonly Frame[] = [];
  let isOver = false;
  let ring = () => {};
  void read();

  async function read(): Promise<void> {
    try {
      for await (const frames of arriving) {
        held = merge(held, frames);
        ring();
      }
    } catch {
      // Whoever held the computer is gone: the stream is over, as when it falls asleep.
    }
    isOver = true;
    ring();
  }

  return {
    async next(withinMs) {
      const until = performance.now() + withinMs;
      for (;;) {
        const frames = held;
        held = [];
        const left = until - performance.now();
        if (frames.length > 0 || isOver || left <= 0) return { frames, isOver };
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, left);
          ring = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
    },
    close() {
      isOver = true;
      end();
      ring();
    },
  };
}
