import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { sse, startRawEndpoint } from './raw-endpoint.fixture.ts';
import { beginReading, whenToRead } from './reading-pace.ts';

const isReadAtOnce = () => {
  let isRead = false;
  whenToRead(() => {
    isRead = true;
  });
  return isRead;
};

describe('answers that are streamed in parallel', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it.each([
    [1, 0],
    [2, 4],
    [9, 32],
    [100, 100],
  ])('%i answers are read together every %i ms [MOD-490]', async (count, everyMs) => {
    const ends = Array.from({ length: count }, beginReading);
    const read: number[] = [];
    for (const at of ends.keys()) whenToRead(() => read.push(at));
    if (everyMs > 0) {
      expect(read).toEqual([]);
      await vi.advanceTimersByTimeAsync(everyMs);
    }
    expect(read).toEqual([...ends.keys()]);
    for (const end of ends) end();
    expect(isReadAtOnce()).toBe(true);
  });
});

describe('an answer over a socket', () => {
  let endpoint: Awaited<ReturnType<typeof startRawEndpoint>>;
  beforeAll(async () => {
    endpoint = await startRawEndpoint();
  });
  afterAll(() => endpoint.close());

  it('is no longer counted once it was left, whether complete, broken or abandoned [MOD-490]', async () => {
    const piece = sse({ choices: [{ delta: { content: 'Hi' } }] });
    const ends = ['whole', 'broken', 'given up'] as const;
    for (const how of [...ends, ...ends]) {
      endpoint.respond((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(piece);
        if (how === 'whole') response.end(sse({ choices: [{ delta: {}, finish_reason: 'stop' }] }, 'data: [DONE]\n\n'));
        if (how === 'broken') setImmediate(() => response.destroy());
      });
      const read = async () => {
        for await (const event of endpoint.stream('compatible', {}, { attempts: 1 })) {
          if (how === 'given up' && event.type === 'text') return;
        }
      };
      await read().catch(() => {});
    }
    expect(isReadAtOnce()).toBe(true);
  });

  it('shows its first text at once, after a piece without text [MOD-491]', async () => {
    const others = [beginReading(), beginReading()];
    // The time of the common read never comes.
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const texts: string[] = [];
    endpoint.respond(async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(sse({ choices: [{ delta: { role: 'assistant', content: '' } }] }));
      // Client and endpoint share the event loop: after some turns, the client has read the piece.
      for (let turns = 0; turns < 100; turns++) await turn();
      response.write(sse({ choices: [{ delta: { content: 'Hi' } }] }));
    });
    for await (const event of endpoint.stream('compatible', {}, { attempts: 1 })) {
      if (event.type === 'text') texts.push(event.text);
      break;
    }
    vi.useRealTimers();
    for (const end of others) end();
    expect(texts).toEqual(['Hi']);
  });
});
