import { listen } from '../../db/listen.ts';
import { type Dispatcher, startDispatcher } from './dispatch.ts';

type Dependencies = Parameters<typeof startDispatcher>[0] & { connectionString: string };

/** Delivers what is due from this process, as soon as it is committed, until it is stopped. */
export async function startDelivering(dependencies: Dependencies): Promise<Pick<Dispatcher, 'stop'>> {
  const { connectionString, log } = dependencies;
  const dispatcher = startDispatcher(dependencies);
  const line = await listen({
    connectionString,
    channel: 'webhook_deliveries',
    purpose: 'deliveries',
    log,
    // Where there are too many endpoints to be named it may be any.
    onMessage: (payload) => dispatcher.wake(payload === '' ? null : payload.split(',')),
    // What was told while nobody listened was missed.
    onConnect: () => dispatcher.wake(),
  });
  return {
    async stop(options) {
      await line.close();
      await dispatcher.stop(options);
    },
  };
}
