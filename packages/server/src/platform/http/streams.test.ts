import { describe, expect, it, vi } from 'vitest';
import type { Caller } from '../caller.ts';
import { createStreams } from './streams.ts';

const callerOf = (id: string, expiresAt?: Date) =>
  ({
    actor: { type: 'key', id, name: id },
    session: expiresAt ? { id, userId: null, conversationId: null, expiresAt } : null,
  }) as unknown as Caller;

describe('open streams', () => {
  it('end with their credential, and others stay open', () => {
    const streams = createStreams();
    const [one, two, other] = ['key_1', 'key_1', 'key_2'].map((id) =>
      streams.open(callerOf(id), new AbortController().signal),
    );
    streams.endCredential('key_1');
    expect([one, two, other].map((each) => each?.signal.aborted)).toEqual([true, true, false]);
    expect(streams.count()).toBe(1);
  });

  it('are bounded for all keys and sessions of an org together, and other orgs open theirs [HRD-709]', () => {
    const streams = createStreams({ maxOfOrg: 3 });
    const open = (orgId: string, id: string) =>
      streams.open({ ...callerOf(id), orgId } as Caller, new AbortController().signal);
    const [first] = ['key_1', 'key_2', 'key_3'].map((id) => open('org_1', id));
    expect(() => open('org_1', 'key_4')).toThrow(/one org/);
    open('org_2', 'key_5');
    first?.close();
    first?.close();
    open('org_1', 'key_4');
    expect(() => open('org_1', 'key_4')).toThrow(/one org/);
  });

  it('end at once if the credential was revoked during the request', () => {
    const streams = createStreams();
    streams.endCredential('key_1');
    const [late, other] = ['key_1', 'key_2'].map((id) => streams.open(callerOf(id), new AbortController().signal));
    expect([late?.signal.aborted, other?.signal.aborted, streams.count()]).toEqual([true, false, 1]);
  });

  it('end if a revocation was missed, and stay open if the check fails', async () => {
    const streams = createStreams();
    const [one, two] = ['key_1', 'key_2'].map((id) => streams.open(callerOf(id), new AbortController().signal));
    const login = { actor: { type: 'member', id: 'mbr_1', name: 'Ada' }, session: null } as unknown as Caller;
    const member = streams.open(login, new AbortController().signal);
    const asked: string[][] = [];
    await streams.endUnlessLive(async (ids) => {
      asked.push(ids);
      return new Set(['key_2', 'key_3']);
    });
    expect(asked).toEqual([['key_1', 'key_2']]);
    expect([one, two, member].map((each) => each?.signal.aborted)).toEqual([true, false, false]);
    await expect(streams.endUnlessLive(() => Promise.reject(new Error('away')))).rejects.toThrow('away');
    expect(two?.signal.aborted).toBe(false);
    streams.endAll();
    expect(two?.signal.aborted).toBe(true);
    expect(streams.open(callerOf('key_2'), new AbortController().signal).signal.aborted).toBe(false);
    expect(streams.open(callerOf('key_1'), new AbortController().signal).signal.aborted).toBe(true);
  });

  it('end with the server, and a request that was accepted in time may still open one', () => {
    const streams = createStreams();
    const open = (options = {}) => streams.open(callerOf('key_1'), new AbortController().signal, options);
    const [following, polling] = [open(), open({ endsAtOnce: true })];
    streams.leave();
    const [late, latePoll] = [open(), open({ endsAtOnce: true })];
    expect([late.isLeaving, late.signal.aborted, latePoll.signal.aborted]).toEqual([true, false, true]);
    expect([following.signal.aborted, following.isLeaving, polling.signal.aborted]).toEqual([false, true, true]);
    streams.stop();
    expect(following.signal.reason).toMatchObject({ code: 'not_ready' });
    expect([following.signal.aborted, streams.count()]).toEqual([true, 0]);
    expect(() => open()).toThrow('The server is restarting.');
  });

  it('let idle streams leave one after the other, all of them in time [OPS-730]', async () => {
    vi.useFakeTimers();
    const streams = createStreams();
    const opened = Array.from({ length: 1_000 }, () =>
      streams.open(callerOf('key_1'), new AbortController().signal, { endsAtOnce: true }),
    );
    const left = () => opened.filter(({ signal }) => signal.aborted).length;
    const empty = vi.fn();
    void streams.whenEmpty().then(empty);
    streams.leave({ withinMs: 2_000 });
    const counts: number[] = [];
    while (left() < opened.length) {
      counts.push(left());
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(counts).toEqual(Array.from({ length: 20 }, (_, at) => (at + 1) * 50).slice(0, counts.length));
    expect([counts.length, empty.mock.calls.length]).toEqual([19, 1]);
    vi.useRealTimers();
  });

  it('name the restart to those that have not left when the time is over', () => {
    vi.useFakeTimers();
    const streams = createStreams();
    const opened = Array.from({ length: 100 }, () => streams.open(callerOf('key_1'), new AbortController().signal));
    streams.leave({ withinMs: 10_000 });
    expect(opened.filter(({ isLeaving }) => isLeaving)).toHaveLength(20);
    streams.stop();
    expect(opened.filter(({ isLeaving, signal }) => isLeaving && signal.aborted)).toHaveLength(100);
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  it('are removed when they end and when the client disconnects', () => {
    const streams = createStreams();
    const request = new AbortController();
    const [first] = [streams.open(callerOf('key_1'), new AbortController().signal)];
    streams.open(callerOf('key_1'), request.signal);
    expect(streams.count()).toBe(2);
    first?.close();
    request.abort();
    streams.open(callerOf('key_2'), request.signal);
    expect(streams.count()).toBe(0);
  });

  it('are limited per credential [SES-109]', () => {
    const streams = createStreams();
    const soon = new Date(Date.now() + 60_000);
    for (const [caller, most] of [
      [callerOf('ses_1', soon), 20],
      [callerOf('key_1'), 10_000],
    ] as const) {
      const opened = Array.from({ length: most }, () => streams.open(caller, new AbortController().signal));
      expect(() => streams.open(caller, new AbortController().signal)).toThrow(`At most ${most} streams`);
      opened[0]?.close();
      expect(streams.open(caller, new AbortController().signal).signal.aborted).toBe(false);
    }
    expect(streams.count()).toBe(10_020);
    streams.endAll();
  });

  it('end when the session token expires', async () => {
    const streams = createStreams();
    const { signal } = streams.open(callerOf('ses_1', new Date(Date.now() - 1)), new AbortController().signal);
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    expect(streams.count()).toBe(0);
  });
});
