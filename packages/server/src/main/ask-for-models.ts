import type { Models } from '@vestra/models/models';

const everyMs = 6 * 3_600_000;

/** Asks the vendors beside the start, which never waits for it, and again from time to time. */
export function keepAskingForModels({ askVendors }: Pick<Models, 'askVendors'>): { stop: () => Promise<void> } {
  const stopping = new AbortController();
  let asking = askVendors(stopping.signal);
  const timer = setInterval(() => {
    asking = askVendors(stopping.signal);
  }, everyMs).unref();
  return {
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await asking;
    },
  };
}
