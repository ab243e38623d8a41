import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Failure, fail } from '@vestra/contract/errors';
import type { Logger } from 'pino';
import { reportComputerStart, withComputerMeter } from '../engine/index.ts';
import { type CallProcess, type Peer, PeerLost, PeerUnreachable } from '../platform/cluster/process-calls.ts';
import type { Database } from '../platform/db/pool.ts';
import { isDatabaseUnreachable } from '../platform/db/unreachable.ts';
import type { Frame, FrameSource } from '../platform/http/sse.ts';
import { type Computers, computerKey, HeldElsewhere } from './running-computer.ts';
import { findHolder, type HostRow, listHosts, type Owner, removeHost, renewHost } from './store.ts';

/** An operation on the computer of an owner. Its input and result are sent between processes unchanged. */
export type RoutedCall<Input, Result> = (owner: Owner, given: Input, signal: AbortSignal) => Promise<Result>;

/** A computer is awake in one process, with its browser, tabs and viewers. Every operation on it runs there. */
export type ComputerRouting = {
  /**
   * Runs the operation in the process that has the computer. If the computer sleeps, wakes it or returns `ifAsleep`.
   */
  route: <Input, Result>(
    name: string,
    work: RoutedCall<Input, Result>,
    options?: { ifAsleep?: () => Result },
  ) => RoutedCall<Input, Result>;
  /** The same for streams. `merge` decides which frames a slow reader still gets. */
  routeStream: <Input>(
    name: string,
    open: (owner: Owner, given: Input) => FrameSource,
    merge: FrameMerge,
  ) => (owner: Owner, given: Input) => Promise<FrameSource>;
  isAwake: (owner: Owner) => Promise<boolean>;
  /** Answers the request of another process, message by message. */
  answer: (name: string, asked: unknown, signal: AbortSignal) => AsyncIterable<RoutingMessage>;
  /** Ends the streams to other processes, so that they open them elsewhere. */
  endStreams: () => void;
};

type RoutingMessage =
  | { kind: 'runs' }
  | { kind: 'done'; answer: unknown }
  | { kind: 'open' }
  | { kind: 'frames'; frames: readonly Frame[] }
  | { kind: 'elsewhere' }
  | { kind: 'failed'; code: Failure['code']; details: Failure['details'] };

type RoutedRequest = { owner: Owner; given: unknown };

type ComputerLocation = { kind: 'here' } | { kind: 'asleep' } | { kind: 'there'; peer: Peer; heldUntil: Date };

/** Longer than the lease, so that a computer whose process died is taken over. */
const patienceMs = 60_000;
const askAgainMs = 100;
const streamBeatMs = 5_000;

export function createComputerRouting(options: {
  db: Database;
  computers: Computers;
  hosts: ComputerHosts;
  /** False if computers run only in other processes. */
  isHost: boolean;
  ask: CallProcess;
  log: Logger;
}): ComputerRouting {
  const { db, computers, hosts, isHost, ask, log } = options;
  const calls = new Map<string, RoutedCall<never, unknown>>();
  const streams = new Map<string, (owner: Owner, given: never) => FrameSource>();
  const openStreams = new Set<FrameSource>();

  async function locate(owner: Owner): Promise<ComputerLocation> {
    if (computers.ifAwake(owner)) return { kind: 'here' };
    const holder = await findHolder(db, owner);
    if (!holder) return { kind: 'asleep' };
    if (holder.id === computers.self) return { kind: 'here' };
    // A process that shuts down names no address. A process with computers waits until it can take over.
    if (holder.address === null) return isHost ? { kind: 'here' } : { kind: 'asleep' };
    return { kind: 'there', peer: { id: holder.id, address: holder.address }, heldUntil: holder.heldUntil };
  }

  /** Retries until a process accepts: the computer may move between the lookup and the call. */
  async function reach<Result>(
    owner: Owner,
    signal: AbortSignal,
    ways: {
      here: () => Promise<Result>;
      there: (peer: Peer) => Promise<Result>;
      ifAsleep?: (() => Result) | undefined;
    },
  ): Promise<Result> {
    const deadline = performance.now() + patienceMs;
    const unreached = new Map<string, Date | null>();
    for (;;) {
      if (signal.aborted) throw unavailable('The caller disconnected.');
      const where = await locate(owner);
      if (where.kind === 'asleep' && ways.ifAsleep) return ways.ifAsleep();
      const peer = where.kind === 'there' ? where.peer : isHost ? null : await hosts.choose(owner, unreached);
      try {
        return await (peer ? ways.there(peer) : ways.here());
      } catch (error) {
        if (signal.aborted && peer) throw unavailable('The caller disconnected.');
        if (error instanceof PeerLost) throw lost();
        if (!(error instanceof HeldElsewhere) && !(error instanceof PeerUnreachable)) throw error;
        if (performance.now() > deadline) throw unavailable('This computer moves from process to process. Try again.');
        if (peer && error instanceof PeerUnreachable) noteUnreached(peer, where, error);
      }
      await pause(askAgainMs, undefined, { signal }).catch(() => {});
    }

    /**
     * A dead process holds the computer until its lease ends. A process that renews its lease lives but is unreachable.
     */
    function noteUnreached(peer: Peer, where: ComputerLocation, { message }: PeerUnreachable): void {
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

  async function callThere<Result>(
    peer: Peer,
    name: string,
    asked: RoutedRequest,
    signal: AbortSignal,
  ): Promise<Result> {
    for await (const message of ask(peer, name, asked, signal) as AsyncIterable<RoutingMessage>) {
      if (message.kind === 'runs') await reportComputerStart();
      else if (message.kind === 'done') return message.answer as Result;
      else throwIfRefused(message);
    }
    throw new PeerLost('it ended without an answer');
  }

  return {
    route(name, work, { ifAsleep } = {}) {
      calls.set(name, work as RoutedCall<never, unknown>);
      return (owner, given, signal) =>
        reach(owner, signal, {
          here: () => work(owner, given, signal),
          there: (peer) => callThere(peer, name, { owner, given }, signal),
          ifAsleep,
        });
    },
    routeStream(name, open, merge) {
      streams.set(name, open as (owner: Owner, given: never) => FrameSource);
      return (owner, given) => {
        const ending = new AbortController();
        return reach<FrameSource>(owner, ending.signal, {
          here: async () => open(owner, given),
          async there(peer) {
            const messages = (ask(peer, name, { owner, given }, ending.signal) as AsyncIterable<RoutingMessage>)[
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
    isAwake: async (owner) => (await locate(owner)).kind !== 'asleep',
    async *answer(name, asked, signal) {
      const { owner, given } = asked as { owner: Owner; given: never };
      const [work, open] = [calls.get(name), streams.get(name)];
      if (!work && !open)
        return yield failed(
          fail('computer_unavailable', { message: 'The processes of this server are of different versions.' }),
        );
      if (!isHost || (await locate(owner)).kind === 'there') return yield { kind: 'elsewhere' };
      if (work) yield* answerCall((report) => withComputerMeter(report, () => work(owner, given, signal)), log);
      if (open) yield* answerStream(open(owner, given), signal);
    },
    endStreams() {
      for (const source of openStreams) source.close();
    },
  };

  async function* answerStream(source: FrameSource, signal: AbortSignal): AsyncGenerator<RoutingMessage> {
    const end = () => source.close();
    signal.addEventListener('abort', end, { once: true });
    openStreams.add(source);
    try {
      yield { kind: 'open' };
      for (;;) {
        const { frames, isOver } = await source.next(streamBeatMs);
        if (frames.length > 0) yield { kind: 'frames', frames };
        if (isOver || signal.aborted) return;
      }
    } finally {
      openStreams.delete(source);
      end();
    }
  }
}

/** Sends `runs` before the result, so that the caller is charged from then on even if the connection breaks. */
async function* answerCall(
  run: (report: () => Promise<void>) => Promise<unknown>,
  log: Logger,
): AsyncGenerator<RoutingMessage> {
  const started = Promise.withResolvers<RoutingMessage>();
  const outcome = run(async () => started.resolve({ kind: 'runs' })).then(
    (answer): RoutingMessage => ({ kind: 'done', answer }),
    (error: unknown) => refused(error, log),
  );
  const first = await Promise.race([started.promise, outcome]);
  yield first;
  if (first.kind === 'runs') yield await outcome;
}

function refused(error: unknown, log: Logger): RoutingMessage {
  if (error instanceof HeldElsewhere) return { kind: 'elsewhere' };
  if (error instanceof Failure) return failed(error);
  if (isDatabaseUnreachable(error))
    return failed(fail('not_ready', { message: 'The database is unreachable. Try again shortly.' }));
  log.error({ err: error }, 'a request of another process failed');
  return failed(fail('internal_error'));
}

const failed = ({ code, details }: Failure): RoutingMessage => ({ kind: 'failed', code, details });

function throwIfRefused(message: RoutingMessage): void {
  if (message.kind === 'elsewhere') throw new HeldElsewhere();
  if (message.kind === 'failed') throw fail(message.code, message.details);
}

async function* framesIn(messages: AsyncIterator<RoutingMessage>): AsyncGenerator<readonly Frame[]> {
  for (let turn = await messages.next(); !turn.done; turn = await messages.next()) {
    if (turn.value.kind === 'frames') yield turn.value.frames;
  }
}

const unavailable = (message: string) => fail('computer_unavailable', { message });

const lost = () =>
  unavailable(
    'The process that has this computer went away in the middle of the call. Whether it took effect is unknown.',
  );

/** Merges frames that were not read yet with newer ones. */
export type FrameMerge = (held: readonly Frame[], more: readonly Frame[]) => readonly Frame[];

/**
 * Frames of another process. They are read at once, even if no one takes them: a frame buffered on the way would be
 * shown late, when its page may be hidden.
 */
function remoteFrames(
  arriving: AsyncIterable<readonly Frame[]>,
  { merge, end }: { merge: FrameMerge; end: () => void },
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
      // The process that had the computer is gone, so the stream ends as if the computer slept.
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

/** The processes on which computers can run. */
type ComputerHosts = {
  /** The process that wakes a sleeping computer. Stays the same for an owner while that process lives. */
  choose: (owner: Owner, except: ReadonlyMap<string, unknown>) => Promise<Peer>;
  /** Why no process has computers, or browsers; null if one has. */
  obstacle: (of: 'computer' | 'browser') => Promise<string | null>;
};

const knownMs = 2_000;

export function createComputerHosts(db: Database): ComputerHosts {
  let known: { at: number; rows: Promise<HostRow[]> } | null = null;
  const list = () => {
    if (!known || performance.now() - known.at > knownMs) known = { at: performance.now(), rows: listHosts(db) };
    known.rows.catch(() => {
      known = null;
    });
    return known.rows;
  };
  return {
    async choose(owner, except) {
      const rows = (await list()).filter(({ id }) => !except.has(id));
      const [first] = rows
        .map((row) => ({ row, weight: weightOf(row.id, owner) }))
        .sort((a, b) => (a.weight < b.weight ? -1 : 1));
      if (!first) throw fail('computer_unavailable', { message: except.size > 0 ? notReached : noHost });
      return { id: first.row.id, address: first.row.address };
    },
    async obstacle(of) {
      const rows = await list();
      if (rows.length === 0) return noHost;
      return of === 'computer' || rows.some((row) => row.has_browser) ? null : noBrowser;
    },
  };
}

/**
 * Rendezvous hashing: the host with the smallest weight wins. A host that joins or leaves moves only its own computers.
 */
const weightOf = (hostId: string, owner: Owner) =>
  createHash('sha256')
    .update(`${hostId}\n${computerKey(owner)}`)
    .digest('base64');

const noHost = 'No process of this server has computers: also start one with VESTRA_ROLE=worker, computers or all.';
const notReached =
  'No process with computers can be reached: each VESTRA_INTERNAL_URL must be an address that the other processes reach.';
const noBrowser = 'No process of this server that has computers has browsers.';

const beatEveryMs = 10_000;
const goodForMs = 35_000;

/** Announces to the other processes that computers can run in this one. */
export function startHosting(options: {
  db: Database;
  log: Logger;
  self: string;
  address: string;
  hasBrowser: () => Promise<boolean>;
}): { stop: () => Promise<void> } {
  const { db, log, self, address, hasBrowser } = options;
  const announce = async () => {
    try {
      await renewHost(db, { id: self, address, hasBrowser: await hasBrowser() }, goodForMs);
    } catch (error) {
      log.warn({ err: error }, 'this process could not be announced as a host of computers; trying again');
    }
  };
  let announcing = announce();
  const beating = setInterval(() => {
    announcing = announce();
  }, beatEveryMs);
  beating.unref();
  return {
    async stop() {
      clearInterval(beating);
      await announcing;
      await removeHost(db, self).catch(() => {});
    },
  };
}
