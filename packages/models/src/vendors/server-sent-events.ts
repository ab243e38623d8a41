import { createParser } from 'eventsource-parser';
import { Unreadable } from './fault.ts';

/** The limit for one event. No piece of a model's output comes near it. */
const longestEvent = 16 * 1_048_576;

type Events = { onEvent: (event: unknown) => void; onDone: () => void };

/** Parses the bytes of a stream, split anywhere, into the JSON of each event. */
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
