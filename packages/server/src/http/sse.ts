/** One server-sent event; `data` is one line of JSON. */
export type Frame = { id: string; event: string; data: unknown };

export type FrameSource = {
  /** What comes within this time; nothing is fine. `isOver`: nothing comes after these. */
  next: (withinMs: number) => Promise<{ frames: readonly Frame[]; isOver: boolean }>;
  close: () => void;
};

const heartbeatMs = 15_000;

/**
 * An event stream that is read as fast as its reader takes it: the source is asked for more only when what it gave has
 * gone out. A silent stream carries a comment line, so that whatever stands in between keeps it open.
 */
export function eventStream(source: FrameSource, signal: AbortSignal, headers: Record<string, string> = {}): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      // The headers go out with the first bytes.
      controller.enqueue(encoder.encode(': open\n\n'));
      signal.addEventListener('abort', () => source.close(), { once: true });
      if (signal.aborted) source.close();
    },
    async pull(controller) {
      const { frames, isOver } = await source.next(heartbeatMs);
      if (signal.aborted) return controller.close();
      controller.enqueue(encoder.encode(frames.length === 0 ? ': still here\n\n' : frames.map(written).join('')));
      if (isOver) {
        source.close();
        controller.close();
      }
    },
    cancel: () => source.close(),
  });
  return new Response(body, {
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no', ...headers },
  });
}

const written = ({ id, event, data }: Frame) => `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
