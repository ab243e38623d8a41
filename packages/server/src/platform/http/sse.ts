import type { OpenStream } from './streams.ts';

/** One server-sent event. `data` is sent as one line of JSON. */
export type Frame = { id: string; event: string; data: unknown };

export type FrameSource = {
  /** The frames of this time span, possibly none. With `isOver` no more will come. */
  next: (withinMs: number) => Promise<{ frames: readonly Frame[]; isOver: boolean }>;
  close: () => void;
  /**
   * Called when the server stops: the source ends when nothing that it follows runs any more. If absent, it ends at
   * once.
   */
  leave?: () => void;
  /** The last event of a stream that ends because the server stops. */
  closing?: () => Frame;
};

const heartbeatMs = 15_000;

/**
 * An event stream with backpressure: it asks the source for more only after the previous frames were read. Idle streams
 * send comment lines, so that proxies keep them open.
 */
export function eventBody(
  source: FrameSource,
  open: OpenStream,
  options: { heartbeatMs?: number; show?: (data: unknown) => unknown } = {},
): ReadableStream<Uint8Array> {
  const { signal, close } = open;
  const { show = (data) => data } = options;
  let isOpen = true;
  const end = () => {
    isOpen = false;
    source.close();
    close();
  };
  return new ReadableStream<Uint8Array>({
    start(controller) {
      // Node sends the headers together with the first bytes.
      controller.enqueue(encoder.encode(': open\n\n'));
      // Close at once instead of at the next pull: a client that has stopped reading never pulls again.
      const cut = () => {
        if (isOpen) {
          if (open.isLeaving && source.closing) controller.enqueue(encoder.encode(written(source.closing(), show)));
          controller.close();
        }
        end();
      };
      if (signal.aborted) return cut();
      signal.addEventListener('abort', cut, { once: true });
      open.leave = source.leave ?? cut;
      if (open.isLeaving) open.leave();
    },
    async pull(controller) {
      try {
        const { frames, isOver } = await source.next(options.heartbeatMs ?? heartbeatMs);
        if (!isOpen) return;
        controller.enqueue(
          encoder.encode(
            frames.length === 0 ? ': still here\n\n' : frames.map((frame) => written(frame, show)).join(''),
          ),
        );
        if (!isOver) return;
        controller.close();
        end();
      } catch (error) {
        end();
        throw error;
      }
    },
    cancel: end,
  });
}

export const eventHeaders = { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' };

export const eventStream = (...given: Parameters<typeof eventBody>): Response =>
  new Response(eventBody(...given), { headers: eventHeaders });

const encoder = new TextEncoder();

const written = ({ id, event, data }: Frame, show: (data: unknown) => unknown) =>
  `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(show(data))}\n\n`;
