import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sql } from '../db/sql.ts';
import { transaction } from '../db/transaction.ts';
import { byNotificationOnly, type Installation, openInstallation } from './installation.fixture.ts';
import { recurringCatalog, testCatalog } from './test-catalog.fixture.ts';
import type { JobContext, JobHandlers } from './worker.ts';

let installation: Installation;

beforeEach(async () => {
  installation = await openInstallation();
});
afterEach(() => installation.close());

describe('a job', () => {
  it('runs once when its transaction committed, and never when it rolled back', async () => {
    const { jobs, ran } = await working();
    await transaction(installation.db, async (tx) => {
      await jobs.send(tx, 'note', { text: 'rolled back' });
      throw new Error('changed its mind');
    }).catch(() => {});
    await transaction(installation.db, (tx) => jobs.send(tx, 'note', { text: 'committed' }));
    await transaction(installation.db, (tx) => jobs.send(tx, 'note', { text: 'after' }));

    await expect.poll(() => ran).toContain('after');
    await expect.poll(() => statesOf('note')).toEqual([]);
    expect(ran).toEqual(['committed', 'after']);
  });

  it('starts by notification, long before the next poll', async () => {
    const { jobs, ran } = await working();
    // The first poll is over, so only a notification can start a job from here on.
    await sleep(300);
    expect(jobs.settings.dueSeconds).toBe(600);
    await jobs.send(installation.db, 'note', { text: 'notified' });
    await expect.poll(() => ran, { timeout: 5000 }).toEqual(['notified']);
  });

  it('starts by notification after the listener reconnected', async () => {
    const { jobs, ran } = await working();
    await expect.poll(() => listeners()).toBe(1);
    await installation.rows(sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'vestra listener' AND datname = current_database()`);
    await expect.poll(() => listeners()).toBe(0);
    await jobs.send(installation.db, 'note', { text: 'during' });
    await expect.poll(() => ran, { timeout: 10_000 }).toEqual(['during']);
    await jobs.send(installation.db, 'note', { text: 'after' });
    await expect.poll(() => ran, { timeout: 5000 }).toEqual(['during', 'after']);
  });

  it('starts at once after an outage, unless its own process may still be running it [FOV-703]', async () => {
    const jobs = await installation.jobs(testCatalog, { leaseSeconds: 600 });
    await jobs.send(installation.db, 'note', { text: 'held' });
    await installation.rows(sql`UPDATE jobs SET is_held = true, due_at = 'infinity'`);
    const polled = Promise.withResolvers<void>();
    const due = async () => {
      polled.resolve();
      throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    };
    const ran: string[] = [];
    const cut = { ...jobs, claims: { ...jobs.claims, due } };
    installation.worker(cut, handlers({ note: async ({ text }) => void ran.push(text) }));
    await polled.promise;
    await installation.rows(sql`UPDATE jobs SET due_at = now()`);
    await jobs.send(installation.db, 'note', { text: 'new' });
    await expect.poll(() => ran, { timeout: 10_000 }).toEqual(['new']);
    await expect.poll(() => statesOf('note')).toEqual(['held']);
  });

  it('whose stored payload is invalid is logged and given up, and blocks nothing', async () => {
    const jobs = await installation.jobs(testCatalog);
    await jobs.sendMany(installation.db, 'note', [{ text: 'one' }, { text: 'two' }]);
    await installation.rows(sql`UPDATE jobs SET payload = '{"text":1}' WHERE key = 'one'`);
    const ran: string[] = [];
    installation.worker(jobs, handlers({ note: async ({ text }) => void ran.push(text) }));

    await expect.poll(() => ran).toEqual(['two']);
    await expect.poll(() => statesOf('note')).toEqual(['The payload is invalid.']);
    expect(messages()).toContain('gave up a job with an invalid payload');
  });

  it('whose handler throws is retried, then given up', async () => {
    const attempts: number[] = [];
    const fails = async (_: unknown, { attempt }: JobContext) => {
      attempts.push(attempt);
      throw new Error('no luck');
    };
    const { jobs, ran } = await working({ note: fails });
    await jobs.send(installation.db, 'note', { text: 'unlucky' });

    await expect.poll(() => statesOf('note')).toEqual(['The handler failed.']);
    expect(attempts).toEqual([1, 2, 3]);
    expect(ran).toEqual([]);
    expect(messages()).toContain('a job failed for the last time and is not retried');
  });

  it('that fails and then succeeds is deleted', async () => {
    const attempts: number[] = [];
    const { jobs } = await working({
      async note(_, { attempt }) {
        attempts.push(attempt);
        if (attempt === 1) throw new Error('no luck');
      },
    });
    await jobs.send(installation.db, 'note', { text: 'lucky' });
    await expect.poll(() => attempts).toEqual([1, 2]);
    await expect.poll(() => statesOf('note')).toEqual([]);
  });

  it('that runs too long has its signal aborted and counts as failed', async () => {
    const short = {
      note: { ...testCatalog.note, expireInSeconds: 1, retries: { limit: 0, delaySeconds: 1, maxDelaySeconds: 1 } },
    };
    const jobs = await installation.jobs(short);
    installation.worker(jobs, { note: (_, { signal }) => untilAborted(signal) });
    await jobs.send(installation.db, 'note', { text: 'slow' });
    await expect.poll(() => statesOf('note'), { timeout: 5000 }).toEqual(['The handler failed.']);
  });
});

describe('a run', () => {
  it('whose handler ignores its signal does not keep its slot', async () => {
    const row = { ...testCatalog.note, concurrency: 1, expireInSeconds: 1 };
    const jobs = await installation.jobs({ note: row });
    const ran: string[] = [];
    const note = async ({ text }: { text: string }) => {
      ran.push(text);
      if (ran.length === 1) await new Promise(() => {});
    };
    installation.worker(jobs, { note });
    await jobs.sendMany(installation.db, 'note', [{ text: 'stuck' }, { text: 'next' }]);
    await expect.poll(() => ran, { timeout: 20_000 }).toEqual(['stuck', 'next', 'stuck']);
  });

  it('whose end cannot be recorded at first is not repeated', async () => {
    const jobs = await installation.jobs(testCatalog);
    let failures = 0;
    const finish: typeof jobs.claims.finish = async (...parameters) => {
      if (failures++ < 2) throw new Error('no connection');
      return jobs.claims.finish(...parameters);
    };
    const attempts: number[] = [];
    installation.worker(
      { ...jobs, claims: { ...jobs.claims, finish } },
      handlers({ note: async (_, { attempt }) => void attempts.push(attempt) }),
    );
    await jobs.send(installation.db, 'note', { text: 'ended' });
    await expect.poll(() => statesOf('note'), { timeout: 10_000 }).toEqual([]);
    expect(attempts).toEqual([1]);
    expect(failures).toBe(3);
  });

  it('is aborted if the same process claims its job again', async () => {
    const signals: AbortSignal[] = [];
    const ended: number[] = [];
    const { jobs } = await working({
      async note(_, { signal, attempt }) {
        signals.push(signal);
        if (attempt === 1) await untilAborted(signal);
        ended.push(attempt);
      },
    });
    const id = await jobs.send(installation.db, 'note', { text: 'twice' });
    await expect.poll(() => signals.length).toBe(1);
    // As if the lease had expired.
    await jobs.claims.handBack([{ id, attempt: 1, payload: {}, failures: 0, share: '' }]);
    await expect.poll(() => ended).toEqual([2]);
    expect(signals.map((signal) => signal.aborted)).toEqual([true, false]);
    await expect.poll(() => statesOf('note')).toEqual([]);
  });
});

describe('a queue', () => {
  it('runs as many jobs at once as the catalog allows, and all of them', async () => {
    const { jobs, most, ran } = await workingSlowly();
    const texts = Array.from({ length: 20 }, (_, index) => String(index));
    await jobs.sendMany(
      installation.db,
      'note',
      texts.map((text) => ({ text })),
    );
    await expect.poll(() => ran.length, { timeout: 10_000 }).toBe(20);
    expect(most()).toBe(testCatalog.note.concurrency);
    expect(ran.toSorted()).toEqual(texts.toSorted());
  });

  it('gives an org and a user no more than their share, and others a slot beside them [JOB-241]', async () => {
    const started: string[] = [];
    const held = new Map<string, () => void>();
    const { jobs } = await working({
      async shared({ team, member, item }) {
        const name = `${team} ${member} ${item}`;
        started.push(name);
        await new Promise<void>((resolve) => held.set(name, resolve));
      },
    });
    const of = (team: string, member: string, count: number) =>
      Array.from({ length: count }, (_, at) => ({ team, member, item: at + 1 }));
    await jobs.sendMany(installation.db, 'shared', of('many', 'ann', 20));
    await expect.poll(() => started).toEqual(['many ann 1', 'many ann 2']);
    await jobs.sendMany(installation.db, 'shared', of('many', 'bob', 20));
    await expect.poll(() => started.slice(2)).toEqual(['many bob 1']);
    await jobs.sendMany(installation.db, 'shared', of('few', 'cora', 1));
    await expect.poll(() => started.slice(3)).toEqual(['few cora 1']);
    // A free slot goes to the user with the fewest running, and among equals to the oldest job.
    held.get('many bob 1')?.();
    await expect.poll(() => started.slice(4)).toEqual(['many bob 2']);
    held.get('many ann 1')?.();
    await expect.poll(() => started.slice(5)).toEqual(['many ann 3']);
    const release = setInterval(() => {
      for (const end of held.values()) end();
    }, 1);
    await expect.poll(() => started.length, { timeout: 10_000 }).toBe(41);
    await expect.poll(() => statesOf('shared')).toEqual([]);
    clearInterval(release);
  });

  it('of more users than one scan visits skips none, with two processes', async () => {
    const ran: string[] = [];
    const shared = async ({ member }: { member: string }) => void ran.push(member);
    const { jobs } = await working({ shared });
    await working({ shared });
    const members = Array.from({ length: 300 }, (_, at) => `user ${at}`);
    await jobs.sendMany(
      installation.db,
      'shared',
      members.map((member) => ({ team: 'many', member, item: 1 })),
    );
    await expect.poll(() => ran.length, { timeout: 20_000 }).toBe(300);
    expect(ran.toSorted()).toEqual(members.toSorted());
    await expect.poll(() => statesOf('shared')).toEqual([]);
  });

  it('of three orgs gives free slots to the org with the fewest running, first come among equals [JOB-241]', async () => {
    const started: string[] = [];
    const held: (() => void)[] = [];
    const jobs = await installation.jobs(testCatalog);
    const of = (team: string) => Array.from({ length: 9 }, (_, at) => ({ team, member: `m${at}`, item: at }));
    for (const team of ['a', 'b', 'c']) await jobs.sendMany(installation.db, 'shared', of(team));
    const shared = async ({ team }: { team: string }) => {
      started.push(team);
      await new Promise<void>((resolve) => held.push(resolve));
    };
    installation.worker(jobs, handlers({ shared }));
    await expect.poll(() => started.toSorted().join('')).toBe('aabbc');
    for (const release of held) release();
  });
});

describe('a recurring job', () => {
  it('runs again after each end, also after a failure, and in one process at a time', async () => {
    let inside = 0;
    let most = 0;
    let runs = 0;
    const tick = async () => {
      most = Math.max(most, ++inside);
      runs++;
      await sleep(20);
      inside--;
      if (runs === 2) throw new Error('no luck');
    };
    for (let count = 0; count < 2; count++) {
      installation.worker(await installation.jobs(recurringCatalog), { tick });
    }
    await expect.poll(() => runs, { timeout: 20_000 }).toBeGreaterThanOrEqual(5);
    expect(most).toBe(1);
    expect(messages()).toContain('a recurring job failed');
    const rows = await installation.rows(sql`SELECT count(*)::int AS count FROM jobs WHERE name = 'tick'`);
    expect(rows).toEqual([{ count: 1 }]);
  });

  it('is looked for once for each run', async () => {
    const jobs = await installation.jobs(recurringCatalog);
    const take = vi.spyOn(jobs.claims, 'take');
    let runs = 0;
    const worker = installation.worker(jobs, { tick: async () => void runs++ });
    await expect.poll(() => runs, { timeout: 60_000 }).toBeGreaterThanOrEqual(12);
    await worker.stop();
    // The start, the first poll and the end may each look once more.
    expect(take.mock.calls.length).toBeLessThanOrEqual(runs + 3);
  });
});

describe('stop', () => {
  it('waits for running jobs and claims no more', async () => {
    const begun: string[] = [];
    const may = Promise.withResolvers<void>();
    const { jobs, worker } = await working({
      async note({ text }) {
        begun.push(text);
        await may.promise;
      },
    });
    await jobs.sendMany(
      installation.db,
      'note',
      ['1', '2', '3', '4', '5'].map((text) => ({ text })),
    );
    await expect.poll(() => begun).toHaveLength(3);
    // Ends long after the worker began to stop.
    setTimeout(may.resolve, 500);
    await worker.stop();
    expect(begun).toHaveLength(3);
    expect(await statesOf('note')).toEqual(['waiting', 'waiting']);
  });

  it('releases jobs that were being claimed', async () => {
    const jobs = await installation.jobs(testCatalog);
    const taken = Promise.withResolvers<void>();
    const take: typeof jobs.claims.take = async (...parameters) => {
      const found = await jobs.claims.take(...parameters);
      if (found.claims.length > 0) taken.resolve();
      await sleep(200);
      return found;
    };
    const ran: string[] = [];
    await jobs.send(installation.db, 'note', { text: 'caught' });
    const slow = { ...jobs, claims: { ...jobs.claims, take } };
    const worker = installation.worker(slow, handlers({ note: async ({ text }) => void ran.push(text) }));
    await taken.promise;
    await worker.stop();
    expect(ran).toEqual([]);
    expect(await statesOf('note')).toEqual(['waiting']);
  });

  it('releases a recurring job', async () => {
    const first = installation.worker(await installation.jobs(recurringCatalog), {
      tick: (_, { signal }) => untilAborted(signal),
    });
    await expect.poll(() => statesOf('tick')).toEqual(['held']);
    let runs = 0;
    installation.worker(await installation.jobs(recurringCatalog), { tick: async () => void runs++ });
    await first.stop({ graceMs: 50 });
    await expect.poll(() => runs, { timeout: 5000 }).toBeGreaterThanOrEqual(2);
  });

  it('releases jobs that do not end in time, and another worker starts them at once', async () => {
    const reasons: unknown[] = [];
    const { jobs, worker } = await working({
      async note(_, { signal }) {
        await untilAborted(signal).finally(() => reasons.push(signal.reason));
      },
    });
    await jobs.send(installation.db, 'note', { text: 'long' });
    await expect.poll(() => statesOf('note')).toEqual(['held']);
    const attempts: number[] = [];
    await working({ note: async (_, { attempt }) => void attempts.push(attempt) });

    await worker.stop({ graceMs: 50 });
    await expect.poll(() => attempts, { timeout: 5000 }).toEqual([2]);
    expect(reasons).toEqual([new Error('The worker stops.')]);
    await expect.poll(() => statesOf('note')).toEqual([]);
  });
});

async function working(
  overrides: Partial<JobHandlers<typeof testCatalog>> = {},
  settings: Parameters<Installation['jobs']>[1] = byNotificationOnly,
) {
  const jobs = await installation.jobs(testCatalog, settings);
  const ran: string[] = [];
  const worker = installation.worker(jobs, handlers({ note: async ({ text }) => void ran.push(text), ...overrides }));
  return { jobs, worker, ran };
}

/** Notes that take a while. */
async function workingSlowly() {
  let inside = 0;
  let most = 0;
  const ran: string[] = [];
  const { jobs, worker } = await working({
    async note({ text }) {
      most = Math.max(most, ++inside);
      await sleep(100);
      inside--;
      ran.push(text);
    },
  });
  return { jobs, worker, ran, most: () => most };
}

function handlers(overrides: Partial<JobHandlers<typeof testCatalog>>): JobHandlers<typeof testCatalog> {
  const nothing = async () => {};
  return { note: nothing, shared: nothing, fenced: nothing, ...overrides };
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
}

const messages = () => installation.logged.map((line) => line.msg);

/** 'held', 'waiting' or why it was given up. */
async function statesOf(name: string) {
  const rows = await installation.rows(sql`SELECT is_held, given_up FROM jobs WHERE name = ${name}`);
  return rows.map(({ is_held, given_up }) => given_up ?? (is_held ? 'held' : 'waiting'));
}

async function listeners() {
  const rows = await installation.rows(sql`
    SELECT FROM pg_stat_activity WHERE application_name = 'vestra listener' AND datname = current_database()`);
  return rows.length;
}
