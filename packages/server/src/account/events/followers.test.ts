import { newId } from '@vestra/contract/ids';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Database } from '../../platform/db/pool.ts';
import type { LogEntry, readLog } from './conversation-log.ts';
import { createFollowers } from './followers.ts';

const conversationId = newId('conv');

/** A log on a slow database that distinguishes read entries from published ones. */
function createLog(delays: readonly number[] = []) {
  const entries: LogEntry[] = [];
  let reads = 0;
  const read: typeof readLog = async (_db, _id, { after, limit }) => {
    const delay = delays[reads++ % Math.max(1, delays.length)] ?? 0;
    const found = entries.filter(({ seq }) => seq > after).slice(0, limit);
    for (let turn = 0; turn < delay; turn++) await new Promise((resolve) => setImmediate(resolve));
    return found.map((entry) => ({ ...entry, data: { from: 'rows' } }));
  };
  return {
    followers: () => createFollowers(null as unknown as Database, { read }),
    reads: () => reads,
    write(count: number): LogEntry[] {
      const written = Array.from({ length: count }, (_, at) => entryOf(entries.length + 1 + at));
      entries.push(...written);
      return written;
    },
  };
}

const entryOf = (seq: number): LogEntry => ({
  conversation_id: conversationId,
  seq,
  id: `evt_${seq}`,
  type: 'reply.delta',
  task_id: null,
  turn_id: null,
  data: { from: 'memory' },
  created_at: new Date(0),
});

const seqsOf = (entries: readonly LogEntry[]) => entries.map(({ seq }) => seq);
const countTo = (last: number, from = 1) => Array.from({ length: last - from + 1 }, (_, at) => from + at);

type Step =
  | { kind: 'write'; count: number; how: 'publish' | 'publish later' | 'wake' }
  | { kind: 'publish the late ones'; isReversed: boolean }
  | { kind: 'wake all' }
  | { kind: 'pause' };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('write' as const),
    count: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 150, max: 450 })),
    how: fc.constantFrom('publish' as const, 'publish later' as const, 'wake' as const),
  }),
  fc.record({ kind: fc.constant('publish the late ones' as const), isReversed: fc.boolean() }),
  fc.constant({ kind: 'wake all' as const }),
  fc.constant({ kind: 'pause' as const }),
);

describe('a follower', () => {
  it('gets every entry after its seq once and in order, for any order of writes, notifications and reads [EVT-006, EVT-008]', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 25 }),
        fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 5 }),
        fc.nat({ max: 20 }),
        async (steps, delays, after) => {
          const log = createLog(delays);
          const followers = log.followers();
          log.write(after);
          const follower = followers.follow(conversationId, after);
          const got: number[] = [];
          let total = after;
          let isDone = false;
          const reading = (async () => {
            while (!isDone || got.length < total - after) got.push(...seqsOf(await follower.next(2_000)));
          })();
          let late: LogEntry[][] = [];
          const publishLate = (isReversed: boolean) => {
            for (const each of isReversed ? late.toReversed() : late) followers.publish(conversationId, each);
            late = [];
          };
          for (const each of steps) {
            if (each.kind === 'pause') await new Promise((resolve) => setImmediate(resolve));
            else if (each.kind === 'wake all') followers.wake(null);
            else if (each.kind === 'publish the late ones') publishLate(each.isReversed);
            else {
              const written = log.write(each.count);
              total += each.count;
              if (each.how === 'publish') followers.publish(conversationId, written);
              else if (each.how === 'wake') followers.wake(conversationId);
              else late.push(written);
            }
          }
          publishLate(true);
          isDone = true;
          // Add one more entry, so that the reader's last wait ends.
          total += 1;
          followers.publish(conversationId, log.write(1));
          await reading;
          expect(got).toEqual(countTo(total, after + 1));
        },
      ),
      { numRuns: 200 },
    );
  });

  it('gets entries of its own process without reading them again', async () => {
    const log = createLog();
    const followers = log.followers();
    const follower = followers.follow(conversationId, 0);
    await follower.next(0);
    for (let seq = 1; seq <= 50; seq++) {
      followers.publish(conversationId, log.write(1));
      expect(seqsOf(await follower.next(1_000))).toEqual([seq]);
    }
    expect(log.reads()).toBe(1);
  });

  it('buffers at most 256 entries for a slow reader, which reads the rest from the database', async () => {
    const log = createLog();
    const followers = log.followers();
    const follower = followers.follow(conversationId, 0);
    await follower.next(0);
    for (let seq = 1; seq <= 5_000; seq++) followers.publish(conversationId, log.write(1));
    const got: LogEntry[] = [];
    while (got.length < 5_000) got.push(...(await follower.next(1_000)));
    expect(seqsOf(got)).toEqual(countTo(5_000));
    expect(got.filter(({ data }) => data.from === 'memory').length).toBeLessThanOrEqual(256);
  });

  it('gets at most 256 entries at once', async () => {
    const log = createLog();
    log.write(1_000);
    const follower = log.followers().follow(conversationId, 0);
    const sizes: number[] = [];
    while (sizes.reduce((sum, each) => sum + each, 0) < 1_000) sizes.push((await follower.next(1_000)).length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(256);
  });

  it('returns nothing when the time is over and when it is closed', async () => {
    const follower = createLog().followers().follow(conversationId, 0);
    expect(await follower.next(1)).toEqual([]);
    const waiting = follower.next(600_000);
    follower.close();
    expect(await waiting).toEqual([]);
    expect(await follower.next(600_000)).toEqual([]);
  });

  it('gets no entries of other conversations', async () => {
    const log = createLog();
    const followers = log.followers();
    const follower = followers.follow(newId('conv'), 0);
    await follower.next(0);
    followers.publish(conversationId, [entryOf(1)]);
    followers.wake(conversationId);
    expect(await follower.next(1)).toEqual([]);
    expect(log.reads()).toBe(1);
  });
});
