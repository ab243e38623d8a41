import { setTimeout as delay } from 'node:timers/promises';
import type { Models } from '@vestra/models/models';
import type { Logger } from 'pino';

const everyMs = 6 * 3_600_000;
const firstRetryMs = 1_000;
const longestRetryMs = 15_000;

export type ModelLists = {
  /** Why the compatible endpoint lists no model, once it was asked for the first time; null if it lists some. */
  compatibleProblem: Promise<string | null>;
  stop: () => Promise<void>;
};

/**
 * Asks the vendors beside the start, which never waits for it, and again from time to time. A compatible endpoint that
 * lists no model is asked again soon: it is often started after this server, and the default model may be one of its own.
 */
export function keepAskingForModels({ askVendors, catalogue }: Models, log: Logger): ModelLists {
  const stopping = new AbortController();
  const { signal } = stopping;
  const ask = async (only?: 'compatible') => (await askVendors(signal, only)).get('compatible') ?? null;

  async function askUntilListed(first: string | null): Promise<void> {
    let problem = first;
    for (let pauseMs = firstRetryMs; problem !== null; pauseMs = Math.min(pauseMs * 2, longestRetryMs)) {
      await delay(pauseMs, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      problem = await ask('compatible');
      if (problem === null) log.info({ default_model: catalogue.defaultModel }, 'the compatible endpoint lists models');
    }
  }

  const first = ask();
  const untilListed = first.then(askUntilListed);
  let asking: Promise<unknown> = first;
  const timer = setInterval(() => {
    asking = ask();
  }, everyMs).unref();
  return {
    compatibleProblem: first,
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await Promise.all([asking, untilListed]);
    },
  };
}
