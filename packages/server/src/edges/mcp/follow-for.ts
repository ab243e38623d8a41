import type { StreamedEvent } from '../streamed-events.ts';
import type { ToolCaller } from './tool-caller.ts';

/** Below the minute after which clients give a call up. */
const patienceMs = 50_000;

/** What comes on a stream until it ends, the patience does, or the caller goes. */
export async function followFor<Event extends StreamedEvent>(
  open: (signal: AbortSignal) => AsyncGenerator<Event, void, undefined>,
  { signal, tellProgress }: Pick<ToolCaller, 'signal' | 'tellProgress'>,
): Promise<{ events: Event[]; isOver: boolean }> {
  const events: Event[] = [];
  const enough = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
  for await (const event of open(enough)) {
    events.push(event);
    tellProgress(event.type);
  }
  return { events, isOver: !enough.aborted };
}
