import type { OpenStream } from './streams.ts';

/** One server-sent event; `data` is one line of JSON. */
export type Frame = { id: string; event: string; data: unknown };

export type FrameSource = {
  /** What comes within this time; nothing is fine. `isOver`: nothing comes after these. */
  next: (withinMs: number) => Promise<{ frames: readonly Frame[]; isOver: boolean }>;
  close: () => void;
  /** The server goes down: the source ends by itself once nothing that it follows runs. Absent: it is ended at once. */
  leave?: () => void;
  /** The last event of a stream that the server ends because it goes down. */
  closing?: () => Frame;
};

const heartbeatMs = 15_000;

/**
 * An event stream that is read as fast as its reader takes it: the source is asked for more only when what it gave has
 * gone out. A silent stream carries a comment line, so that whatever stands in between keeps it open.
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
      // The headers go out with the first bytes.
      controller.enqueue(encoder.encode(': open\n\n'));
      // At once, and not when the reader next asks: one that has stopped reading never does.
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
