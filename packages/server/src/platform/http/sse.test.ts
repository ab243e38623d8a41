import { describe, expect, it } from 'vitest';
import { eventStream, type Frame, type FrameSource } from './sse.ts';
import type { OpenStream } from './streams.ts';

const frame = (seq: number): Frame => ({ id: String(seq), event: 'reply.delta', data: { seq } });

/** Yields one batch per call, and stays silent after the last. */
function scriptedSource(batches: (Frame[] | 'end' | Error)[]) {
  const asked: number[] = [];
  let isClosed = false;
  let release = () => {};
  const source: FrameSource = {
    async next(withinMs) {
      asked.push(withinMs);
      const batch = batches.shift();
      if (batch instanceof Error) throw batch;
      if (batch === 'end') return { frames: [frame(99)], isOver: true };
      if (batch) return { frames: batch, isOver: false };
      if (!isClosed) await new Promise<void>((resolve) => (release = resolve));
      return { frames: [], isOver: false };
    },
    close() {
      isClosed = true;
      release();
    },
  };
  return { source, asked, isClosed: () => isClosed };
}

function opened() {
  const controller = new AbortController();
  let closed = 0;
  const stream: OpenStream = {
    signal: controller.signal,
    close: () => void closed++,
    leave: null,
    isLeaving: false,
  };
  return { controller, stream, closedTimes: () => closed };
}

const text = (chunk: { value?: Uint8Array | undefined }) => new TextDecoder().decode(chunk.value);
const reader = (response: Response) => (response.body as ReadableStream<Uint8Array>).getReader();

describe('an event stream', () => {
  it('writes each event as `id`, `event` and one line of `data`, as `text/event-stream` [EVT-010, EVT-023]', async () => {
    const { stream } = opened();
    const response = eventStream(scriptedSource([[frame(1), frame(2)], 'end']).source, stream);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect(await response.text()).toBe(
      ': open\n\nid: 1\nevent: reply.delta\ndata: {"seq":1}\n\nid: 2\nevent: reply.delta\ndata: {"seq":2}\n\n' +
        'id: 99\nevent: reply.delta\ndata: {"seq":99}\n\n',
    );
  });

  it('sends a comment line after 15 silent seconds [EVT-011]', async () => {
    const { source, asked } = scriptedSource([[], [], [frame(1)], 'end']);
    const written = await eventStream(source, opened().stream).text();
    expect(written.match(/^:.*$/gm)).toEqual([': open', ': still here', ': still here']);
    expect(new Set(asked)).toEqual(new Set([15_000]));
  });

  it('reads no more from the source than its reader consumes', async () => {
    const batches = Array.from({ length: 1000 }, (_, at) => [frame(at + 1)]);
    const { source, asked } = scriptedSource(batches);
    const reading = reader(eventStream(source, opened().stream));
    await reading.read();
    await new Promise((resolve) => setImmediate(resolve));
    expect(asked.length).toBeLessThanOrEqual(2);
    await reading.cancel();
  });

  it('ends at once when it is aborted, even if the reader has stopped reading', async () => {
    const { source, isClosed } = scriptedSource([[frame(1)], [frame(2)]]);
    const { controller, stream } = opened();
    const reading = reader(eventStream(source, stream));
    controller.abort();
    expect(isClosed()).toBe(true);
    expect(text(await reading.read())).toBe(': open\n\n');
    expect((await reading.read()).done).toBe(true);
  });

  it('ends at once when it is aborted while it waits for the next frames', async () => {
    const { source } = scriptedSource([]);
    const { controller, stream } = opened();
    const reading = reader(eventStream(source, stream));
    await reading.read();
    const next = reading.read();
    controller.abort();
    expect((await next).done).toBe(true);
  });

  it('ends at once if the caller has already disconnected', async () => {
    const { controller, stream } = opened();
    controller.abort();
    expect(await eventStream(scriptedSource([[frame(1)]]).source, stream).text()).toBe(': open\n\n');
  });

  it.each(['its end', 'a reader that leaves', 'a failure of its source'])(
    'lets go of everything at %s',
    async (how) => {
      const { source, isClosed } = scriptedSource([how === 'its end' ? 'end' : new Error('away')]);
      const { stream, closedTimes } = opened();
      const response = eventStream(source, stream);
      if (how === 'its end') await response.text();
      else if (how === 'a reader that leaves') await response.body?.cancel();
      else await expect(response.text()).rejects.toThrow('away');
      expect([isClosed(), closedTimes()]).toEqual([true, 1]);
    },
  );

  it('accepts another heartbeat interval', async () => {
    const { source, asked } = scriptedSource(['end']);
    await eventStream(source, opened().stream, { heartbeatMs: 7 }).text();
    expect(asked).toEqual([7]);
  });
});
