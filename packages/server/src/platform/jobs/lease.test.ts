import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startHeartbeat } from './lease.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

function beating(renew: (entries: readonly string[]) => Promise<(entry: string) => boolean>, entries: string[]) {
  const lost: string[] = [];
  const errors: unknown[] = [];
  const heartbeat = startHeartbeat<string>({
    everyMs: 1_000,
    held: () => entries,
    renew,
    onLost: (entry) => void lost.push(entry),
    onError: (error) => errors.push(error),
  });
  return { heartbeat, lost, errors };
}

describe('a heartbeat', () => {
  it('reports entries that were not renewed, and only those it asked for', async () => {
    const entries = ['kept', 'taken'];
    const { heartbeat, lost } = beating(async () => {
      entries.push('added meanwhile');
      return (entry) => entry === 'kept';
    }, entries);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(lost).toEqual(['taken']);
    await heartbeat.stop();
  });

  it('keeps everything if a renewal fails, and tries again', async () => {
    let attempts = 0;
    const { heartbeat, lost, errors } = beating(async () => {
      attempts += 1;
      throw new Error('the database is unreachable');
    }, ['a']);
    await vi.advanceTimersByTimeAsync(3_000);
    expect([attempts, errors.length, lost]).toEqual([3, 3, []]);
    await heartbeat.stop();
  });

  it('renews again while an earlier renewal hangs', async () => {
    let attempts = 0;
    const ended = Promise.withResolvers<(entry: string) => boolean>();
    const { heartbeat } = beating(() => {
      attempts += 1;
      return ended.promise;
    }, ['a']);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(attempts).toBe(2);
    ended.resolve(() => true);
    await heartbeat.stop();
  });

  it('asks for nothing if nothing is held', async () => {
    const renew = vi.fn(async () => () => true);
    const { heartbeat } = beating(renew, []);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(renew).not.toHaveBeenCalled();
    await heartbeat.stop();
  });

  it('beats no more once stopped', async () => {
    const renew = vi.fn(async () => () => true);
    const { heartbeat } = beating(renew, ['a']);
    await heartbeat.stop();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(renew).not.toHaveBeenCalled();
  });
});
