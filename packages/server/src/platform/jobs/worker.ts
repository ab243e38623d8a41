import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { repeat } from '../async/background-loop.ts';
import { isDatabaseUnreachable } from '../db/unreachable.ts';
import type { JobCatalog, JobName, JobPayload } from './catalog.ts';
import type { Claims } from './claims.ts';
import { createLane, type JobContext, type JobEnded } from './lane.ts';
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

const nothing = { claims: [], isContested: false, isLeft: false };

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
  const claims: Claims = {
    ...jobs.claims,
    // During an outage no heartbeat arrived, so the jobs of live processes look abandoned. Give them time to renew.
    take: (...given) => (isOutage ? Promise.resolve(nothing) : jobs.claims.take(...given)),
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
      if (isOutage) return void setTimeout(endOutage, beatEveryMs).unref();
      for (const name of due) lanes.get(name)?.wake();
    } catch (error) {
      isOutage ||= isDatabaseUnreachable(error);
      log.error({ err: error }, 'could not poll for due jobs');
    }
  }

  function endOutage(): void {
    isOutage = false;
    wakeAll();
  }
}
