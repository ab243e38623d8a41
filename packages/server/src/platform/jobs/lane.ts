import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isDatabaseAway } from '../db/away.ts';
import type { JobRow } from './catalog.ts';
import type { Claims } from './claims.ts';
import type { Claim, RunningShares } from './fair-claim.ts';

export type JobContext = {
  /** Aborted when the job is no longer ours, has run too long, or the worker stops: what is written then is lost. */
  signal: AbortSignal;
  jobId: string;
  /** 1 for the first start, one more for each further one, whatever ended the one before. */
  attempt: number;
};

/** Told how each run of a job ended here. */
export type JobEnded = (queue: string, outcome: 'done' | 'failed' | 'given_up', seconds: number) => void;

export type Lane = {
  /** There may be something to take. */
  wake(): void;
  /** The jobs that run here. */
  held(): Claim[];
  /** Of those, the ones that are still ours: another process goes on with the rest. */
  keep(held: Claim[], ours: ReadonlySet<string>): void;
  takeNoMore(): void;
  /** Takes no more; resolves when nothing runs. */
  drain(): Promise<void>;
  /** Gives up what still runs, so that another process can take it. */
  handBack(): Promise<void>;
};

type Running = { claim: Claim; controller: AbortController; fate: 'ours' | 'lost' | 'handed back' };

const recordTries = 5;
const neglectMs = 10_000;

/** Takes jobs of one queue, runs as many at once as its row allows, and records how they end. */
export function createLane(dependencies: {
  name: string;
  row: JobRow;
  handler: (payload: never, context: JobContext) => Promise<void>;
  claims: Claims;
  log: Logger;
  ended?: JobEnded | undefined;
}): Lane {
  const { name, row, claims, ended = () => {} } = dependencies;
  const handler = dependencies.handler as (payload: unknown, context: JobContext) => Promise<void>;
  const log = dependencies.log.child({ job: name });
  const running = new Set<Running>();
  const runs = new Set<Promise<void>>();
  let isStopping = false;
  let isFull = false;
  // What becomes free when a job ends may be less than a slot: a share.
  let isLeft = false;
  let isWanted = false;
  let isTaking = false;
  let taking: Promise<void> = Promise.resolve();

  return { wake, held, keep, takeNoMore, drain, handBack };

  function wake(): void {
    isWanted = true;
    if (!isTaking) taking = takeWhileWanted();
  }

  async function takeWhileWanted(): Promise<void> {
    isTaking = true;
    while (isWanted && !isStopping) {
      isWanted = false;
      try {
        await fill();
      } catch (error) {
        // The next look for due jobs tries again.
        log.error({ err: error }, 'jobs could not be taken');
      }
    }
    isTaking = false;
  }

  async function fill(): Promise<void> {
    while (!isStopping) {
      const free = row.concurrency - running.size;
      isFull = free <= 0;
      if (isFull) return;
      const taken = await claims.take(name, row, free, runningShares());
      isLeft = taken.isLeft;
      if (isStopping && taken.claims.length > 0) return claims.handBack(taken.claims);
      for (const claim of taken.claims) start(claim);
      if (taken.claims.length < free && !taken.isContested) return;
    }
  }

  function runningShares(): RunningShares {
    const counts = new Map<string, number>();
    for (const { claim } of running) {
      counts.set(claim.share, (counts.get(claim.share) ?? 0) + 1);
    }
    return counts;
  }

  function start(claim: Claim): void {
    // A process that was held up for too long may be given a job that it still runs.
    for (const entry of running) if (entry.claim.id === claim.id) lose(entry);
    const run = runClaim(claim).finally(() => runs.delete(run));
    runs.add(run);
  }

  async function runClaim(claim: Claim): Promise<void> {
    const entry: Running = { claim, controller: new AbortController(), fate: 'ours' };
    running.add(entry);
    const expiry = setTimeout(
      () => entry.controller.abort(new Error(`The job ran longer than ${row.expireInSeconds} s.`)),
      row.expireInSeconds * 1000,
    );
    expiry.unref();
    try {
      const record = await outcomeOf(entry);
      await recordSurely(entry, record);
    } finally {
      clearTimeout(expiry);
      running.delete(entry);
      if (isFull || isLeft) wake();
    }
  }

  /** Runs the handler and returns what is to be done with the job then. */
  async function outcomeOf(entry: Running): Promise<() => Promise<void>> {
    const { claim, controller } = entry;
    const startedAt = performance.now();
    const end = (outcome: Parameters<JobEnded>[1]) => ended(name, outcome, (performance.now() - startedAt) / 1000);
    const payload = row.payload.safeParse(claim.payload);
    if (!payload.success) {
      end('given_up');
      log.error({ jobId: claim.id, issues: payload.error.issues }, 'a job with an invalid payload is given up');
      return () => claims.giveUp(claim, 'The payload is invalid.');
    }
    const context = { signal: controller.signal, jobId: claim.id, attempt: claim.attempt };
    try {
      await unlessNeglected(handler(payload.data, context), controller.signal);
    } catch (error) {
      if (entry.fate === 'ours') end(isLastFailure(claim) ? 'given_up' : 'failed');
      return afterFailure(entry, error);
    }
    end('done');
    if (row.policy === 'recurring') return comeBack(claim, row.everySeconds);
    return () => claims.finish(claim);
  }

  function afterFailure({ claim, fate }: Running, error: unknown): () => Promise<void> {
    const facts = { err: error, jobId: claim.id, attempt: claim.attempt };
    if (fate !== 'ours') {
      log.info({ ...facts, fate }, 'a job was stopped');
      return async () => {};
    }
    // Nothing is wrong with the job: it uses up none of its tries.
    if (isDatabaseAway(error)) {
      log.warn(facts, 'a job waits for the database');
      return comeBack(claim, 1);
    }
    if (row.policy === 'recurring') {
      log.error(facts, 'a recurring job failed');
      return comeBack(claim, row.everySeconds);
    }
    const failures = claim.failures + 1;
    if (isLastFailure(claim)) {
      log.error({ ...facts, failures }, 'a job failed for the last time and is given up');
      return () => claims.giveUp(claim, 'The handler failed.');
    }
    const seconds = backoffSeconds(row.retries, failures);
    log.warn({ ...facts, failures, seconds }, 'a job failed and is tried again');
    return async () => {
      await claims.tryAgain(claim, seconds);
      wakeAfter(seconds);
    };
  }

  function isLastFailure({ failures }: Claim): boolean {
    return row.policy !== 'recurring' && failures >= row.retries.limit;
  }

  function comeBack(claim: Claim, seconds: number): () => Promise<void> {
    return async () => {
      await claims.comeBack(claim, seconds);
      wakeAfter(seconds);
    };
  }

  /** The handler has ended: without this record of it, another process would run it all again. */
  async function recordSurely(entry: Running, record: () => Promise<void>): Promise<void> {
    for (let tries = 1; entry.fate === 'ours'; tries++) {
      try {
        return await record();
      } catch (error) {
        log.error({ err: error, jobId: entry.claim.id, tries }, 'the end of a job could not be recorded');
        if (tries >= recordTries && !isDatabaseAway(error)) return;
      }
      await sleep(250 * 2 ** Math.min(tries, recordTries - 1));
    }
  }

  /** Nobody is notified of a job that was put off: this process knows when it is due. */
  function wakeAfter(seconds: number): void {
    setTimeout(wake, seconds * 1000 + 5).unref();
  }

  function held(): Claim[] {
    return [...running].map(({ claim }) => claim);
  }

  function keep(asked: Claim[], ours: ReadonlySet<string>): void {
    // One that began or ended meanwhile was not asked about.
    for (const entry of running) if (asked.includes(entry.claim) && !ours.has(entry.claim.id)) lose(entry);
  }

  function lose(entry: Running): void {
    entry.fate = 'lost';
    entry.controller.abort(new Error('The job was taken over.'));
  }

  function takeNoMore(): void {
    isStopping = true;
  }

  async function drain(): Promise<void> {
    takeNoMore();
    await taking;
    await Promise.all(runs);
  }

  async function handBack(): Promise<void> {
    const left = [...running];
    if (left.length === 0) return;
    for (const entry of left) {
      entry.fate = 'handed back';
      entry.controller.abort(new Error('The worker stops.'));
    }
    try {
      await claims.handBack(left.map(({ claim }) => claim));
      log.warn({ jobs: left.length }, 'jobs that did not end in time were handed back');
    } catch (error) {
      log.error(
        { err: error, jobs: left.length },
        'jobs could not be handed back and wait for their heartbeat to stop',
      );
    }
  }
}

/** A handler that goes on long after its signal was aborted would keep its slot for ever: the job ends without it. */
async function unlessNeglected(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const ended = new AbortController();
  const neglected = once(signal, 'abort', { signal: ended.signal })
    .then(() => sleep(neglectMs, undefined, { signal: ended.signal, ref: false }))
    .then(() => Promise.reject(new Error(`The handler did not end: ${signal.reason}`)));
  try {
    await Promise.race([work, neglected]);
  } finally {
    ended.abort();
  }
}

function backoffSeconds(retries: { delaySeconds: number; maxDelaySeconds: number }, failures: number): number {
  const full = Math.min(retries.maxDelaySeconds, retries.delaySeconds * 2 ** (failures - 1));
  // Jobs that failed together are not to come back together.
  return full * (0.5 + Math.random() / 2);
}
