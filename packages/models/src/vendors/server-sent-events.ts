import { createParser } from 'eventsource-parser';
import { Unreadable } from './fault.ts';

/** Of one event. Nothing that a model writes in one piece comes near it. */
const longestEvent = 16 * 1_048_576;

/** Takes the bytes of a stream, cut anywhere, and gives the JSON of each event; null where the stream says that it is done. */
export function readServerSentEvents(onEvent: (event: unknown) => void): (bytes: Buffer) => void {
  const decoder = new TextDecoder();
  const parser = createParser({
    maxBufferSize: longestEvent,
    onEvent: ({ data }) => onEvent(data === '[DONE]' ? null : parsed(data)),
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
