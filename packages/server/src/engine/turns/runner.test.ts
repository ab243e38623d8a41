import { fail } from '@vestra/contract/errors';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLog } from '../../main/log.ts';
import type { Database } from '../../platform/db/pool.ts';
import { type RunLease, RunTakenOver } from '../../platform/jobs/run-lease.ts';
import { createRunner, RunLeft, type Runner, type RunOwner } from './runner.ts';

type Renewal = { answer: (rows: { id: string; epoch: number }[]) => void };

const ofAnn: RunOwner = { org_id: 'org_a', mode: 'test', user_id: 'ann' };

let runner: Runner;
afterEach(() => runner.stop({ graceMs: 0 }));

/** A runner whose renewal queries the test answers. */
function start(given: Partial<Record<'capacity' | 'ofOrg' | 'ofUser', number>> = {}, log = createLog('silent')) {
  const renewals: Renewal[] = [];
  let onAsked = () => {};
  const renewLeases = () =>
    new Promise<{ id: string; epoch: number }[]>((resolve) => {
      renewals.push({ answer: resolve });
      onAsked();
    });
  const settings = { capacity: 256, ofOrg: 192, ofUser: 64, leaseMs: 1_000, renewEveryMs: 5, ...given };
  runner = createRunner({ db: {} as Database, renewLeases, log, settings });
  return async () => {
    if (renewals.length === 0) {
      await new Promise<void>((resolve) => {
        onAsked = resolve;
      });
    }
    return renewals.shift() as Renewal;
  };
}

/** A run that lasts until it is aborted, with its signal. */
function begin(runId: string, of = ofAnn): { signal: () => AbortSignal; done: Promise<void> } {
  let seen: AbortSignal | undefined;
  const done = runner.perform({ runId, epoch: 1 } as Parameters<Runner['perform']>[0], of, (signal) => {
    seen = signal;
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  });
  return { signal: () => seen as AbortSignal, done };
}

describe('renewing leases', () => {
  it('keeps a run that started during the query', async () => {
    const renewal = start();
    const first = begin('turn_1');
    const asked = await renewal();
    const second = begin('turn_2');
    asked.answer([{ id: 'turn_1', epoch: 1 }]);
    (await renewal()).answer([
      { id: 'turn_1', epoch: 1 },
      { id: 'turn_2', epoch: 1 },
    ]);
    await renewal();
    expect([first.signal().aborted, second.signal().aborted]).toEqual([false, false]);
  });

  it.each([
    ['is gone', []],
    ['has another owner', [{ id: 'turn_1', epoch: 2 }]],
  ])('aborts a run whose row %s', async (_what, rows) => {
    const renewal = start();
    const { signal, done } = begin('turn_1');
    (await renewal()).answer(rows);
    await done;
    expect(signal().reason).toBeInstanceOf(RunTakenOver);
  });
});

describe('a run that throws', () => {
  it.each([
    ['because its conversation was deleted', fail('conversation_not_found'), 0],
    ['for any other reason', new Error('It broke.'), 1],
  ])('%s: lines in the log: $2', async (_why, error, lines) => {
    const logged: string[] = [];
    start({}, createLog('error', { write: (line) => logged.push(line) }));
    await runner.perform({ runId: 'turn_1', epoch: 1 } as RunLease, ofAnn, () => Promise.reject(error));
    expect(logged).toHaveLength(lines);
  });
});

describe('a waiting run', () => {
  const run = { runId: 'turn_waits', epoch: 1 } as Parameters<Runner['perform']>[0];

  it('is handed back at shutdown, and a running one is not [MON-161]', async () => {
    start();
    const waits = runner.whileWaiting(run, new AbortController().signal, (signal, begins) => {
      begins();
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    const under = begin('turn_under_way');
    runner.leave();
    await expect(waits).rejects.toBeInstanceOf(RunLeft);
    expect([runner.isLeaving(), runner.hasRoom(ofAnn), under.signal().aborted]).toEqual([true, false, false]);
    const late = runner.whileWaiting(run, new AbortController().signal, async (signal, begins) => {
      begins();
      signal.throwIfAborted();
    });
    await expect(late).rejects.toBeInstanceOf(RunLeft);
    const instantly = runner.whileWaiting(run, new AbortController().signal, async (signal) => signal.aborted);
    expect(await instantly).toBe(false);
  });

  it('is set aside after a while and takes no room', async () => {
    start();
    const gate = Promise.withResolvers<void>();
    let isOver = false;
    const performed = runner.perform(run, ofAnn, (signal) =>
      runner
        .whileWaiting(run, signal, (_, begins) => {
          begins();
          return gate.promise;
        })
        .then(() => {
          isOver = true;
        }),
    );
    await performed;
    expect(isOver).toBe(false);
    gate.resolve();
    await expect.poll(() => isOver).toBe(true);
  });
});

describe('the capacity of a process', () => {
  const ofBob: RunOwner = { ...ofAnn, user_id: 'bob' };
  const ofCora: RunOwner = { org_id: 'org_b', mode: 'test', user_id: 'cora' };
  const annInLive: RunOwner = { ...ofAnn, mode: 'live' };
  const unlessEnded = (promise: Promise<void>, signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      promise.then(resolve);
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  const rooms = () => [ofAnn, annInLive, ofBob, ofCora].map((of) => runner.hasRoom(of));

  it('is limited per user, per org and in total [JOB-241]', async () => {
    start({ capacity: 4, ofOrg: 3, ofUser: 2 });
    const runs = [begin('turn_1')];
    expect(rooms()).toEqual([true, true, true, true]);
    runs.push(begin('turn_2'));
    expect(rooms()).toEqual([false, true, true, true]);
    expect([runner.lease(ofAnn), runner.lease(ofBob)]).toEqual([null, expect.objectContaining({ leaseMs: 1_000 })]);
    runs.push(begin('turn_3', ofBob));
    expect(rooms()).toEqual([false, false, false, true]);
    runs.push(begin('turn_4', ofCora));
    expect(rooms()).toEqual([false, false, false, false]);
    for (const id of ['turn_2', 'turn_4']) runner.end(id);
    await Promise.all([runs[1]?.done, runs[3]?.done]);
    expect(rooms()).toEqual([true, true, true, true]);
  });

  it('is reserved until the slot is used or released [JOB-241]', async () => {
    start({ capacity: 4, ofOrg: 3, ofUser: 2 });
    const [first, second] = [runner.reserve(ofAnn), runner.reserve(ofAnn)];
    expect([runner.reserve(ofAnn), rooms()]).toEqual([null, [false, true, true, true]]);
    second?.release();
    second?.release();
    expect(rooms()).toEqual([true, true, true, true]);
    const run = { runId: 'turn_1', epoch: 1 } as Parameters<Runner['perform']>[0];
    const ends = Promise.withResolvers<void>();
    const done = runner.perform(run, ofAnn, () => ends.promise, first ?? undefined);
    expect(runner.reserve(ofAnn)).not.toBeNull();
    expect(rooms()).toEqual([false, true, true, true]);
    ends.resolve();
    await done;
    expect(rooms()).toEqual([true, true, true, true]);
  });

  it('is free while a run is set aside, and used again when it resumes [JOB-241]', async () => {
    start({ capacity: 2, ofOrg: 1, ofUser: 1 });
    const gate = Promise.withResolvers<void>();
    const goesOn = Promise.withResolvers<void>();
    const run = { runId: 'turn_waits', epoch: 1 } as Parameters<Runner['perform']>[0];
    let isOn = false;
    await runner.perform(run, ofAnn, async (signal) => {
      await runner.whileWaiting(run, signal, (orLeft, begins) => {
        begins();
        return unlessEnded(gate.promise, orLeft);
      });
      isOn = true;
      await unlessEnded(goesOn.promise, signal);
    });
    expect(rooms()).toEqual([true, true, true, true]);
    gate.resolve();
    await expect.poll(() => isOn).toBe(true);
    expect(rooms()).toEqual([false, false, false, true]);
    goesOn.resolve();
    await expect.poll(rooms).toEqual([true, true, true, true]);
  });

  /** A run that waits until the test releases it, lasts until it is aborted, and exposes its state. */
  function beginWaiting(runId: string, of: RunOwner, { isAside }: { isAside: boolean }) {
    const gate = Promise.withResolvers<void>();
    const run = { runId, epoch: 1 } as Parameters<Runner['perform']>[0];
    const state = { isOn: false };
    const performed = runner.perform(run, of, async (signal) => {
      await runner.whileWaiting(run, signal, (orLeft, begins) => {
        if (isAside) begins();
        return unlessEnded(gate.promise, orLeft);
      });
      state.isOn = true;
      await unlessEnded(new Promise(() => {}), signal);
    });
    return { state, letGo: gate.resolve, performed };
  }

  describe('while a run waits', () => {
    beforeEach(() => void vi.useFakeTimers());
    afterEach(() => void vi.useRealTimers());

    it('stays used if only an answer is slow [JOB-531]', async () => {
      start({ capacity: 2, ofOrg: 1, ofUser: 1 });
      beginWaiting('turn_slow', ofAnn, { isAside: false });
      await vi.advanceTimersByTimeAsync(60_000);
      expect([runner.hasRoom(ofAnn), runner.counts()]).toEqual([false, { running: 1, setAside: 0 }]);
    });

    it('goes to returning runs before new ones, within their share [JOB-531]', async () => {
      start({ capacity: 4, ofOrg: 3, ofUser: 1 });
      const first = beginWaiting('turn_1', ofAnn, { isAside: true });
      await vi.advanceTimersByTimeAsync(1_000);
      await first.performed;
      begin('turn_2');
      first.letGo();
      await vi.advanceTimersByTimeAsync(60_000);
      expect([first.state.isOn, runner.counts()]).toEqual([false, { running: 1, setAside: 1 }]);
      runner.end('turn_2');
      await vi.advanceTimersByTimeAsync(0);
      expect([first.state.isOn, runner.hasRoom(ofAnn), runner.counts()]).toEqual([
        true,
        false,
        { running: 1, setAside: 0 },
      ]);
      runner.end('turn_1');
      await vi.advanceTimersByTimeAsync(0);
      expect([runner.hasRoom(ofAnn), runner.counts()]).toEqual([true, { running: 0, setAside: 0 }]);
    });

    it('goes to a returning run if too many are set aside [JOB-531]', async () => {
      start({ capacity: 2_000, ofOrg: 2_000, ofUser: 1 });
      const waiting = Array.from({ length: 1_000 }, (_, at) => beginWaiting(`turn_${at}`, ofAnn, { isAside: true }));
      await vi.advanceTimersByTimeAsync(1_000);
      beginWaiting('turn_last', ofAnn, { isAside: true });
      await vi.advanceTimersByTimeAsync(2_000);
      expect(runner.counts()).toEqual({ running: 1, setAside: 1_000 });
      waiting[0]?.letGo();
      await vi.advanceTimersByTimeAsync(1_000);
      expect([waiting[0]?.state.isOn, runner.counts()]).toEqual([true, { running: 1, setAside: 1_000 }]);
    });

    it('is released if a returning run ends before it has room [JOB-531]', async () => {
      start({ capacity: 4, ofOrg: 3, ofUser: 1 });
      const first = beginWaiting('turn_1', ofAnn, { isAside: true });
      await vi.advanceTimersByTimeAsync(1_000);
      begin('turn_2');
      first.letGo();
      await vi.advanceTimersByTimeAsync(0);
      runner.end('turn_1');
      await vi.advanceTimersByTimeAsync(0);
      expect([first.state.isOn, runner.counts()]).toEqual([false, { running: 1, setAside: 0 }]);
      runner.end('turn_2');
      await vi.advanceTimersByTimeAsync(0);
      expect([runner.hasRoom(ofAnn), runner.counts()]).toEqual([true, { running: 0, setAside: 0 }]);
    });
  });
});
