/** An event of one of our own streams: its `data` is one line of JSON. */
export type StreamedEvent = { type: string; data: Record<string, unknown> };

/** Reads the event streams that the API itself writes. Leaving the loop closes the stream. */
export async function* readEvents<Event extends StreamedEvent>(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<Event, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const frames = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) {
      const data = frame.split('\n').find((line) => line.startsWith('data: '));
      if (data !== undefined) yield JSON.parse(data.slice('data: '.length)) as Event;
    }
  }
}
