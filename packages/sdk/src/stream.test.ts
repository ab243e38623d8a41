import { afterEach, describe, expect, it, vi } from 'vitest';
import { createClient } from './client.ts';
import { followConversation, followTestRun } from './stream.ts';

afterEach(() => vi.useRealTimers());

type Reply = (lastEventId: string | null, signal: AbortSignal) => Response;

/** A client whose service opens these streams in turn, then the last one for ever. */
function clientOf(...replies: Reply[]) {
  const opened: (string | null)[] = [];
  const slept: number[] = [];
  const client = createClient({
    baseUrl: 'https://vestra.example.com',
    key: 'vk_test_1',
    sleep: async (ms) => void slept.push(ms),
    fetch: async (_, init = {}) => {
      const lastEventId = new Headers(init.headers).get('last-event-id');
      opened.push(lastEventId);
      const reply = replies[Math.min(opened.length, replies.length) - 1] as Reply;
      return reply(lastEventId, init.signal as AbortSignal);
    },
  });
  return { client, opened, slept };
}

const frame = (seq: number, text = '') =>
  `id: ${seq}\nevent: reply.delta\ndata: ${JSON.stringify({ seq, data: { text } })}\n\n`;

/** Sends these bytes, and then ends, breaks or stays open. */
function stream(
  chunks: readonly (string | Uint8Array)[],
  then: 'end' | 'break' | 'stay' = 'end',
  cancelled = () => {},
) {
  const encoder = new TextEncoder();
  const left = chunks.map((chunk) => (typeof chunk === 'string' ? encoder.encode(chunk) : chunk));
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = left.shift();
      if (chunk) return controller.enqueue(chunk);
      if (then === 'end') return controller.close();
      if (then === 'break') return controller.error(new TypeError('terminated'));
      return new Promise<void>(() => {});
    },
    cancel: cancelled,
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } });
}

async function take(events: AsyncIterable<{ seq: number }>, count: number): Promise<number[]> {
  const seen: number[] = [];
  for await (const { seq } of events) if (seen.push(seq) === count) break;
  return seen;
}

const closed = (seq: number) =>
  `id: ${seq}\nevent: stream.closed\ndata: ${JSON.stringify({ seq, type: 'stream.closed', data: { reason: 'server_restarting' } })}\n\n`;

describe('a follower', () => {
  it('reconnects at once after `stream.closed`, does not show it, and waits only if the next one closes too [EVT-670]', async () => {
    const { client, opened, slept } = clientOf(
      () => stream([frame(1), closed(1)], 'stay'),
      () => stream([frame(2)], 'stay'),
    );
    expect(await take(followConversation(client, 'conv_1'), 2)).toEqual([1, 2]);
    expect([opened, slept]).toEqual([['0', '1'], []]);
    const both = clientOf(
      () => stream([closed(0)]),
      () => stream([closed(0)]),
      () => stream([frame(1)], 'stay'),
    );
    expect(await take(followConversation(both.client, 'conv_1'), 1)).toEqual([1]);
    expect([both.opened, both.slept.length]).toEqual([['0', '0', '0'], 1]);
  });

  it('resumes after the last event, however the connection ended, and skips duplicates', async () => {
    const { client, opened } = clientOf(
      () => stream([': open\n\n', frame(4), frame(5)], 'break'),
      () => stream([]),
      () => stream([frame(5), frame(6)]),
      () => stream([frame(7)]),
    );
    expect(await take(followConversation(client, 'conv_1', { after: 3 }), 4)).toEqual([4, 5, 6, 7]);
    expect(opened).toEqual(['3', '5', '5', '6']);
  });

  it('reads characters and lines that arrive in pieces', async () => {
    const whole = new TextEncoder().encode(frame(1, 'grün 🌱'));
    const pieces = Array.from(whole, (byte) => Uint8Array.of(byte));
    const { client } = clientOf(() => stream(pieces));
    for await (const { data } of followConversation(client, 'conv_1')) {
      expect(data).toEqual({ text: 'grün 🌱' });
      break;
    }
  });

  it('closes the connection when its reader stops', async () => {
    const cancelled = vi.fn();
    const { client } = clientOf(() => stream([frame(1)], 'stay', cancelled));
    await take(followConversation(client, 'conv_1'), 1);
    expect(cancelled).toHaveBeenCalledOnce();
  });

  it('treats silence as a dead connection', async () => {
    vi.useFakeTimers();
    const { client, opened } = clientOf(
      () => stream([frame(1)], 'stay'),
      () => stream([frame(2)], 'stay'),
    );
    const taken = take(followConversation(client, 'conv_1'), 2);
    await vi.advanceTimersByTimeAsync(49_000);
    expect(opened).toEqual(['0']);
    await vi.advanceTimersByTimeAsync(2000);
    expect(await taken).toEqual([1, 2]);
    expect(opened).toEqual(['0', '1']);
  });

  it.each([
    [
      'refused',
      () => Response.json({ error: { type: 'authentication', code: 'key_revoked', message: 'No.' } }, { status: 401 }),
      'key_revoked',
    ],
    ['answered with something else', () => new Response('<html>'), 'unexpected_answer'],
  ])('throws if it is %s', async (_, reply, code) => {
    const { client, opened } = clientOf(() => stream([frame(1)]), reply);
    await expect(take(followConversation(client, 'conv_1'), 2)).rejects.toMatchObject({ code });
    expect(opened).toHaveLength(2);
  });

  it('gives up on a service that stays unreachable', async () => {
    const { client, opened } = clientOf(() => {
      throw new TypeError('fetch failed');
    });
    await expect(take(followConversation(client, 'conv_1'), 1)).rejects.toMatchObject({ code: 'connection_failed' });
    expect(opened).toHaveLength(11);
  });

  it('ends silently when it is aborted', async () => {
    const ending = new AbortController();
    const { client } = clientOf((_, signal) => {
      const response = stream([frame(1)], 'stay');
      signal.addEventListener('abort', () => response.body?.cancel().catch(() => {}));
      return response;
    });
    const seen: number[] = [];
    for await (const { seq } of followConversation(client, 'conv_1', { signal: ending.signal })) {
      seen.push(seq);
      ending.abort();
    }
    expect(seen).toEqual([1]);
  });

  it('of a test run reads its current state and ends with it', async () => {
    const event = (type: string) => `id: 1\nevent: ${type}\ndata: ${JSON.stringify({ type, seq: 1 })}\n\n`;
    const { client } = clientOf(
      () => stream([event('test_run.progress')], 'break'),
      () => stream([event('test_run.progress'), event('test_run.completed')], 'stay'),
    );
    const types: string[] = [];
    for await (const { type } of followTestRun(client, 'trun_1')) types.push(type);
    expect(types).toEqual(['test_run.progress', 'test_run.progress', 'test_run.completed']);
  });
});
