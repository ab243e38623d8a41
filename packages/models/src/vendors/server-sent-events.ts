import { createParser } from 'eventsource-parser';
import { Unreadable } from './fault.ts';

/** Of one event. Nothing that a model writes in one piece comes near it. */
const longestEvent = 16 * 1_048_576;

type Events = { onEvent: (event: unknown) => void; onDone: () => void };

/** Takes the bytes of a stream, cut anywhere, and gives the JSON of each event. */
export function readServerSentEvents({ onEvent, onDone }: Events): (bytes: Buffer) => void {
  const decoder = new TextDecoder();
  const parser = createParser({
    maxBufferSize: longestEvent,
    onEvent: ({ data }) => (data === '[DONE]' ? onDone() : onEvent(parsed(data))),
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') throw new Unreadable();
    },
  });
  return (bytes) => parser.feed(decoder.decode(bytes, { stream: true }));
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    throw new Unreadable();
  }
}
