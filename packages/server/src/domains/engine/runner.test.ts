import { afterEach, describe, expect, it } from 'vitest';
import type { Database } from '../../db/pool.ts';
import { FencedOff } from '../../jobs/fence.ts';
import { createLog } from '../../log.ts';
import { createRunner, type Runner, type RunOwner } from './runner.ts';

type Renewal = { answer: (rows: { id: string; epoch: string }[]) => void };

const ofAnn: RunOwner = { org_id: 'org_a', mode: 'test', user_id: 'ann' };

let runner: Runner;
afterEach(() => runner.stop({ graceMs: 0 }));

/** A runner whose renewals are answered by hand, each announced as it is asked for. */
function start() {
  const renewals: Renewal[] = [];
  let onAsked = () => {};
  const execute = () =>
    new Promise((resolve) => {
      renewals.push({ answer: (rows) => resolve({ rows }) });
      onAsked();
    });
  const db = { execute } as unknown as Database;
  runner = createRunner({ db, log: createLog('silent'), settings: { renewEveryMs: 5 } });
  return async () => {
    if (renewals.length === 0) {
      await new Promise<void>((resolve) => {
        onAsked = resolve;
      });
    }
    return renewals.shift() as Renewal;
  };
}

/** Works until it is ended, and says by what. */
function begin(runId: string, of = ofAnn): { signal: () => AbortSignal; done: Promise<void> } {
  let seen: AbortSignal | undefined;
  const done = runner.perform({ runId, epoch: 1 } as Parameters<Runner['perform']>[0], of, (signal) => {
    seen = signal;
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  });
  return { signal: () => seen as AbortSignal, done };
}

describe('renewing leases', () => {
  it('keeps a run that began while the database was asked about the others', async () => {
    const renewal = start();
    const first = begin('turn_1');
    const asked = await renewal();
    const second = begin('turn_2');
    asked.answer([{ id: 'turn_1', epoch: '1' }]);
    (await renewal()).answer([
      { id: 'turn_1', epoch: '1' },
      { id: 'turn_2', epoch: '1' },
    ]);
    await renewal();
    expect([first.signal().aborted, second.signal().aborted]).toEqual([false, false]);
  });

  it.each([
    ['is gone', []],
    ['has another owner', [{ id: 'turn_1', epoch: '2' }]],
  ])('ends a run whose row %s', async (_what, rows) => {
    const renewal = start();
    const { signal, done } = begin('turn_1');
    (await renewal()).answer(rows);
    await done;
    expect(signal().reason).toBeInstanceOf(FencedOff);
  });
});
