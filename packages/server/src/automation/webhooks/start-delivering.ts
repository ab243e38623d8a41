import type { Line } from '../../platform/db/listen.ts';
import { type Dispatcher, startDispatcher } from './dispatch.ts';

type Dependencies = Parameters<typeof startDispatcher>[0] & { line: Line };

/** Delivers what is due from this process, as soon as it is committed, until it is stopped. */
export async function startDelivering(dependencies: Dependencies): Promise<Pick<Dispatcher, 'stop'>> {
  const { line } = dependencies;
  const dispatcher = startDispatcher(dependencies);
  await line.hear('webhook_deliveries', {
    // Where there are too many endpoints to be named it may be any.
    onMessage: (payload) => dispatcher.wake(payload === '' ? null : payload.split(',')),
    // What was told while nobody listened was missed.
    onConnect: () => dispatcher.wake(),
  });
  return { stop: dispatcher.stop };
}
