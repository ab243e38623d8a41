import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createTurnstile, nextShare } from './turnstile.ts';

const { signal } = new AbortController();

afterEach(() => {
  vi.useRealTimers();
});

describe('the share of an org', () => {
  it.each([
    ['shrinks by a fifth while the process is busy', 100, { most: 192, used: 100, utilization: 0.95, ms: 100 }, 80],
    ['never becomes less than 16', 17, { most: 192, used: 17, utilization: 1, ms: 100 }, 16],
    ['stays within a small share', 8, { most: 8, used: 8, utilization: 1, ms: 100 }, 8],
    [
      'grows by eight in a tenth of a second while an org uses it',
      80,
      { most: 192, used: 80, utilization: 0.5, ms: 100 },
      88,
    ],
    [
      'grows by 80 at most, however long ago it was measured',
      60,
      { most: 192, used: 60, utilization: 0.5, ms: 9_000 },
      140,
    ],
    [
      'never becomes more than the share of an idle process',
      190,
      { most: 192, used: 190, utilization: 0.5, ms: 100 },
      192,
    ],
    ['becomes twice of what is used', 150, { most: 192, used: 30, utilization: 0.5, ms: 100 }, 60],
    ['is 32 after a quiet time', 16, { most: 192, used: 0, utilization: 0.1, ms: 60_000 }, 32],
    ['is within a small share after a quiet time', 8, { most: 20, used: 0, utilization: 0.1, ms: 60_000 }, 20],
  ])('%s', (_, share, sample, expected) => {
    expect(nextShare(share, sample)).toBe(expected);
  });
});

/** A process whose load, time and runs the test sets. An org may have 20 runs, and 16 if the process is busy. */
function start({ most = 20, longestWaitMs = 600_000 }: { most?: number; longestWaitMs?: number } = {}) {
  const state = { now: 0, utilization: 1, runs: new Map<string, number>() };
  const clock = { now: () => state.now, utilization: () => state.utilization };
  const turnstile = createTurnstile({ most, runsOf: (orgId) => state.runs.get(orgId) ?? 0, clock, longestWaitMs });
  const entered: string[] = [];
  const enter = (name: string, orgId = 'org_a', on = signal) =>
    turnstile.enter(orgId, on).then((leave) => {
      entered.push(name);
      return leave;
    });
  state.now = 100;
  return { state, turnstile, entered, enter };
}

/** The same with a message of another org. */
async function startWithOthers(...of: Parameters<typeof start>) {
  const started = start(...of);
  (await started.enter('other', 'org_b'))();
  started.entered.length = 0;
  return started;
}

describe('a quiet process', () => {
  it('takes 32 of a thousand messages that arrive at once, and more as long as it is not busy', async () => {
    const { state, turnstile, entered, enter } = await startWithOthers({ most: 192 });
    Object.assign(state, { utilization: 0.2, now: 200 });
    for (let at = 0; at < 1_000; at++) void enter(`${at}`);
    await setImmediate();
    expect(entered).toHaveLength(32);
    state.now = 300;
    turnstile.advance('org_a');
    await setImmediate();
    expect(entered).toHaveLength(40);
    Object.assign(state, { utilization: 1, now: 400 });
    turnstile.advance('org_a');
    await setImmediate();
    expect(entered).toHaveLength(40);
    turnstile.open();
  });
});

describe('a busy process', () => {
  it('lets an org with few runs pass, and others wait until one of their runs ends, in order', async () => {
    const { state, turnstile, entered, enter } = await startWithOthers();
    state.runs.set('org_a', 16);
    const first = enter('first');
    const second = enter('second');
    (await enter('other org', 'org_b'))();
    expect(entered).toEqual(['other org']);
    state.runs.set('org_a', 15);
    turnstile.advance('org_a');
    const leave = await first;
    expect(entered).toEqual(['other org', 'first']);
    // Its message has been refused, so no run took the place.
    leave();
    await second;
    expect(entered).toEqual(['other org', 'first', 'second']);
  });

  it('counts messages that are being accepted', async () => {
    const { entered, enter } = await startWithOthers();
    await Promise.all(Array.from({ length: 16 }, (_, at) => enter(`${at}`)));
    void enter('one more');
    await Promise.resolve();
    expect(entered).toHaveLength(16);
  });

  it('lets all pass when it is no longer busy', async () => {
    const { state, turnstile, entered, enter } = await startWithOthers();
    state.runs.set('org_a', 18);
    const waiting = [enter('first'), enter('second')];
    Object.assign(state, { utilization: 0.2, now: 300 });
    turnstile.advance('org_a');
    await Promise.all(waiting);
    expect(entered).toEqual(['first', 'second']);
  });

  it('lets all pass when the process ends', async () => {
    const { state, turnstile, enter } = await startWithOthers();
    state.runs.set('org_a', 18);
    const waiting = enter('first');
    turnstile.open();
    await waiting;
  });

  it('accepts a message after five seconds at the latest', async () => {
    vi.useFakeTimers();
    const { state, entered, enter } = await startWithOthers({ longestWaitMs: 5_000 });
    state.runs.set('org_a', 18);
    const waiting = enter('first');
    await vi.advanceTimersByTimeAsync(4_999);
    expect(entered).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await waiting;
    expect(entered).toEqual(['first']);
  });

  it('forgets a caller that has left', async () => {
    const { state, turnstile, entered, enter } = await startWithOthers();
    state.runs.set('org_a', 18);
    const left = new AbortController();
    const gone = enter('gone', 'org_a', left.signal);
    const second = enter('second');
    left.abort(new Error('left'));
    await expect(gone).rejects.toMatchObject({ code: 'rate_limited' });
    state.runs.set('org_a', 0);
    turnstile.advance('org_a');
    await second;
    expect(entered).toEqual(['second']);
  });

  it('measures its load again while messages wait, also if no run ends', async () => {
    vi.useFakeTimers();
    const { state, turnstile, entered, enter } = await startWithOthers();
    state.runs.set('org_a', 18);
    void enter('first');
    await vi.advanceTimersByTimeAsync(200);
    expect([entered, turnstile.waiting()]).toEqual([[], 1]);
    Object.assign(state, { utilization: 0.2, now: 300 });
    await vi.advanceTimersByTimeAsync(100);
    expect([entered, turnstile.waiting()]).toEqual([['first'], 0]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('refuses messages of an org beyond a thousand that wait', async () => {
    const { state, turnstile, enter } = await startWithOthers();
    state.runs.set('org_a', 18);
    const waiting = Array.from({ length: 1_000 }, (_, at) => enter(`${at}`));
    await expect(enter('one more')).rejects.toMatchObject({ code: 'rate_limited' });
    await enter('other', 'org_b');
    turnstile.open();
    await Promise.all(waiting);
  });
});

describe('an org that has the process for itself', () => {
  it('never waits', async () => {
    const { state, entered, enter } = start();
    state.runs.set('org_a', 18);
    await enter('first');
    expect(entered).toEqual(['first']);
  });

  it('is one whose neighbours have sent nothing for an hour', async () => {
    const { state, turnstile, entered, enter } = await startWithOthers();
    state.runs.set('org_a', 18);
    const first = enter('first');
    await Promise.resolve();
    expect(entered).toEqual([]);
    state.now += 3_600_000;
    turnstile.advance('org_a');
    await first;
    (await enter('other', 'org_b'))();
    void enter('second');
    await Promise.resolve();
    expect(entered).toEqual(['first', 'other']);
    turnstile.open();
  });
});
