import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isDatabaseAway } from '../db/away.ts';
import type { JobCatalog, JobName, JobPayload } from './catalog.ts';
import type { Claims } from './claims.ts';
import { createLane, type JobContext, type JobEnded } from './lane.ts';
import type { Jobs } from './queue.ts';
import { repeat } from './repeat.ts';

export type JobHandlers<Catalog extends JobCatalog> = {
  [Name in JobName<Catalog>]: (payload: JobPayload<Name, Catalog>, context: JobContext) => Promise<void>;
};

export type Worker = {
  /** Another process takes what comes; the jobs that run here go on until `stop`. */
  takeNoMore(): void;
  /** Takes no more jobs, lets those that run end, and hands back the ones that have not after `graceMs`. */
  stop(options?: { graceMs?: number }): Promise<void>;
};

const nothing = { claims: [], isContested: false, isLeft: false };

/** Runs jobs in this process until it is stopped. */
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
    // While the database was away no heartbeat got through, so that what others run seems to be nobody's: they are
    // given the time to say that they are there.
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
  // One look at all of them: to ask each for a job, when most have none, would open a connection each at the start.
  const looking = repeat(settings.dueSeconds * 1000, look, { firstAfterMs: 0 });
  const beating = repeat(beatEveryMs, beat);

  return {
    takeNoMore() {
      for (const lane of lanes.values()) lane.takeNoMore();
    },
    async stop({ graceMs = 30_000 } = {}) {
      await looking.stop();
      const patience = new AbortController();
      await Promise.race([
        Promise.all([...lanes.values()].map((lane) => lane.drain())),
        sleep(graceMs, undefined, { signal: patience.signal }).catch(() => {}),
      ]);
      patience.abort();
      await beating.stop();
      await Promise.all([...lanes.values()].map((lane) => lane.handBack()));
    },
  };

  function wakeAll(): void {
    for (const lane of lanes.values()) lane.wake();
  }

  async function look(): Promise<void> {
    try {
      const due = await claims.due([...lanes.keys()]);
      if (isOutage) return void setTimeout(endOutage, beatEveryMs).unref();
      for (const name of due) lanes.get(name)?.wake();
    } catch (error) {
      isOutage ||= isDatabaseAway(error);
      log.error({ err: error }, 'due jobs could not be looked for');
    }
  }

  function endOutage(): void {
    isOutage = false;
    wakeAll();
  }

  async function beat(): Promise<void> {
    try {
      const held = [...lanes.values()].map((lane) => ({ lane, claims: lane.held() }));
      const all = held.flatMap((each) => each.claims);
      if (all.length === 0) return;
      const ours = await claims.beat(all);
      for (const { lane, claims: asked } of held) lane.keep(asked, ours);
    } catch (error) {
      isOutage ||= isDatabaseAway(error);
      // It says nothing about whose the jobs are: those that run go on, and the next beat may get through.
      log.error({ err: error }, 'the heartbeat of running jobs could not be written');
    }
  }
}
