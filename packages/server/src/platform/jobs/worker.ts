import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { repeat } from '../async/background-loop.ts';
import { isDatabaseUnreachable } from '../db/unreachable.ts';
import type { JobCatalog, JobName, JobPayload, JobRow } from './catalog.ts';
import type { Claim, Claims, RunningShares } from './claims.ts';
import { startHeartbeat } from './lease.ts';
import type { Jobs } from './queue.ts';

export type JobHandlers<Catalog extends JobCatalog> = {
  [Name in JobName<Catalog>]: (payload: JobPayload<Name, Catalog>, context: JobContext) => Promise<void>;
};

export type Worker = {
  /** Leaves new jobs to other processes. Running jobs continue until `stop`. */
  takeNoMore(): void;
  /** Takes no more jobs, waits for the running ones, and releases those that have not ended after `graceMs`. */
  stop(options?: { graceMs?: number }): Promise<void>;
};

export function startWorker<Catalog extends JobCatalog>(dependencies: {
  jobs: Jobs<Catalog>;
  handlers: JobHandlers<Catalog>;
  log: Logger;
  ended?: JobEnded;
}): Worker {
  const { jobs, handlers, log, ended } = dependencies;
  const { settings } = jobs;
  const beatEveryMs = (settings.leaseSeconds * 1000) / 3;
  let isOutage = false;
  let isEnding = false;
  const claims: Claims = {
    ...jobs.claims,
    // During an outage no heartbeat arrived, so the jobs of live processes look abandoned. Give them time to renew.
    take: (name, row, given) => jobs.claims.take(name, row, { ...given, leaveHeld: isOutage }),
  };
  const lanes = new Map(
    Object.entries(jobs.catalog).map(([name, row]) => [
      name,
      createLane({ name, row, handler: handlers[name as JobName<Catalog>], claims, log, ended }),
    ]),
  );

  jobs.onWake((name) => {
    if (name === undefined) wakeAll();
    else lanes.get(name)?.wake();
  });
  // One poll for all queues: a poll per queue would open a connection each at the start, mostly for nothing.
  const polling = repeat(settings.dueSeconds * 1000, poll, { firstAfterMs: 0 });
  const heartbeat = startHeartbeat({
    everyMs: beatEveryMs,
    held: () => [...lanes.values()].flatMap((lane) => lane.held().map((claim) => ({ lane, claim }))),
    async renew(entries) {
      const ours = await claims.beat(entries.map(({ claim }) => claim));
      return ({ claim }) => ours.has(claim.id);
    },
    onLost: ({ lane, claim }) => lane.lose(claim),
    onError(error) {
      isOutage ||= isDatabaseUnreachable(error);
      log.error({ err: error }, 'could not write the heartbeat of running jobs');
    },
  });

  return {
    takeNoMore() {
      for (const lane of lanes.values()) lane.takeNoMore();
    },
    async stop({ graceMs = 30_000 } = {}) {
      await polling.stop();
      const patience = new AbortController();
      await Promise.race([
        Promise.all([...lanes.values()].map((lane) => lane.drain())),
        sleep(graceMs, undefined, { signal: patience.signal }).catch(() => {}),
      ]);
      patience.abort();
      await heartbeat.stop();
      await Promise.all([...lanes.values()].map((lane) => lane.handBack()));
    },
  };

  function wakeAll(): void {
    for (const lane of lanes.values()) lane.wake();
  }

  async function poll(): Promise<void> {
    try {
      const due = await claims.due([...lanes.keys()]);
      if (isOutage && !isEnding) {
        isEnding = true;
        setTimeout(endOutage, beatEveryMs).unref();
      }
      for (const name of due) lanes.get(name)?.wake();
    } catch (error) {
      isOutage ||= isDatabaseUnreachable(error);
      log.error({ err: error }, 'could not poll for due jobs');
    }
  }

  function endOutage(): void {
    isOutage = false;
    isEnding = false;
    wakeAll();
  }
}

export type JobContext = {
  /** Aborted if the job was taken over, has run too long, or the worker stops. Later writes are lost. */
  signal: AbortSignal;
  jobId: string;
  /** 1 for the first start, and one more for each restart, whatever the reason. */
  attempt: number;
};

/** Reports the end of each run of a job in this process. */
type JobEnded = (queue: string, outcome: 'done' | 'failed' | 'given_up', seconds: number) => void;

type Lane = {
  /** The queue may have due jobs. */
  wake(): void;
  /** The claims of the jobs that run here. */
  held(): Claim[];
  /** Another process has taken this job. */
  lose(claim: Claim): void;
  takeNoMore(): void;
  /** Takes no more jobs and resolves when none is running. */
  drain(): Promise<void>;
  /** Aborts and releases the running jobs, so that another process can claim them. */
  handBack(): Promise<void>;
};

type Running = { claim: Claim; controller: AbortController; fate: 'ours' | 'lost' | 'handed back' };

const maxRecordTries = 5;
const neglectMs = 10_000;

/** Claims jobs of one queue, runs as many at once as the catalog allows, and records their end. */
function createLane(dependencies: {
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
  // Jobs wait for a share, so the end of any run may free one even if slots were free.
  let isLeft = false;
  let isWanted = false;
  let isTaking = false;
  let taking: Promise<void> = Promise.resolve();

  return { wake, held, lose, takeNoMore, drain, handBack };

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
        // The next poll tries again.
        log.error({ err: error }, 'could not claim jobs');
      }
    }
    isTaking = false;
  }

  async function fill(): Promise<void> {
    while (!isStopping) {
      const free = row.concurrency - running.size;
      isFull = free <= 0;
      if (isFull) return;
      const taken = await claims.take(name, row, { count: free, running: runningShares() });
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
    // A process that was frozen for too long may claim a job that it still runs.
    for (const entry of running) if (entry.claim.id === claim.id) lose(entry.claim);
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
      const record = await runHandler(entry);
      await recordWithRetries(entry, record);
    } finally {
      clearTimeout(expiry);
      running.delete(entry);
      // A recurring job has no other row, and wakes its lane when it is due again.
      if ((isFull || isLeft) && row.policy !== 'recurring') wake();
    }
  }

  /** Runs the handler and returns the function that records the result. */
  async function runHandler(entry: Running): Promise<() => Promise<void>> {
    const { claim, controller } = entry;
    const startedAt = performance.now();
    const end = (outcome: Parameters<JobEnded>[1]) => ended(name, outcome, (performance.now() - startedAt) / 1000);
    const payload = row.payload.safeParse(claim.payload);
    if (!payload.success) {
      end('given_up');
      log.error({ jobId: claim.id, issues: payload.error.issues }, 'gave up a job with an invalid payload');
      return () => claims.giveUp(claim, 'The payload is invalid.');
    }
    const context = { signal: controller.signal, jobId: claim.id, attempt: claim.attempt };
    try {
      await untilNeglected(handler(payload.data, context), controller.signal);
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
    // An outage is not a fault of the job and must not count as a failure.
    if (isDatabaseUnreachable(error)) {
      log.warn(facts, 'a job waits for the database');
      return comeBack(claim, 1);
    }
    if (row.policy === 'recurring') {
      log.error(facts, 'a recurring job failed');
      return comeBack(claim, row.everySeconds);
    }
    const failures = claim.failures + 1;
    if (isLastFailure(claim)) {
      log.error({ ...facts, failures }, 'a job failed for the last time and is not retried');
      return () => claims.giveUp(claim, 'The handler failed.');
    }
    const seconds = backoffSeconds(row.retries, failures);
    log.warn({ ...facts, failures, seconds }, 'a job failed and will be retried');
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

  /** Retries, because without this record another process would run the whole job again. */
  async function recordWithRetries(entry: Running, record: () => Promise<void>): Promise<void> {
    for (let tries = 1; entry.fate === 'ours'; tries++) {
      try {
        return await record();
      } catch (error) {
        log.error({ err: error, jobId: entry.claim.id, tries }, 'could not record the end of a job');
        if (tries >= maxRecordTries && !isDatabaseUnreachable(error)) return;
      }
      await sleep(250 * 2 ** Math.min(tries, maxRecordTries - 1));
    }
  }

  /** A delayed job sends no notification, so this process wakes itself when the job is due. */
  function wakeAfter(seconds: number): void {
    setTimeout(wake, seconds * 1000 + 5).unref();
  }

  function held(): Claim[] {
    return [...running].map(({ claim }) => claim);
  }

  function lose(claim: Claim): void {
    for (const entry of running) {
      if (entry.claim !== claim) continue;
      entry.fate = 'lost';
      entry.controller.abort(new Error('The job was taken over.'));
    }
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
      log.warn({ jobs: left.length }, 'released jobs that did not end in time');
    } catch (error) {
      log.error({ err: error, jobs: left.length }, 'could not release jobs; they become due when their lease expires');
    }
  }
}

/** Stops waiting for a handler that ignores its signal, because it would keep its slot forever. */
async function untilNeglected(work: Promise<void>, signal: AbortSignal): Promise<void> {
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
  // Jitter, so that jobs that failed together do not return together.
  return full * (0.5 + Math.random() / 2);
}
