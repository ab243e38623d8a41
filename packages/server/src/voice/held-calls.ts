import type { Logger } from 'pino';
import type { ProcessNews } from '../platform/db/process-news.ts';
import type { Call } from './call.ts';

/** Which call of a session began last, in whichever process. */
export type CallOrder = {
  /** Above the numbers of all calls of the session that began before. */
  next: (sessionId: string) => Promise<number>;
  latest: (sessionIds: readonly string[]) => Promise<ReadonlyMap<string, number>>;
};

type Dependencies = { order: CallOrder; processNews: ProcessNews; log: Pick<Logger, 'warn'> };

type Held = { sessionId: string; orgId: string; call: Promise<Call>; over: Promise<void> };

/**
 * The calls of this process. A page that was loaded anew calls again, here or elsewhere, before the old call knows that it is
 * gone: of each session the call that began last goes on. Of those that begin at the same moment that is the one with the
 * highest number; if each ended whatever it heard of, both would be gone.
 */
export function createHeldCalls({ order, processNews, log }: Dependencies) {
  const held = new Map<Held, Promise<number>>();

  async function endReplaced(sessionId: string | null): Promise<void> {
    const concerned = [...held].filter(([each]) => sessionId === null || each.sessionId === sessionId);
    if (concerned.length === 0) return;
    const latest = await order.latest(concerned.map(([each]) => each.sessionId));
    for (const [{ sessionId, call }, number] of concerned) {
      void Promise.all([number, call]).then(
        ([own, begun]) => (own < (latest.get(sessionId) ?? own) ? begun.end('replaced') : undefined),
        () => {},
      );
    }
  }
  processNews.on('voice_call', (sessionId) => {
    endReplaced(sessionId).catch((error: unknown) => log.warn({ err: error }, 'which voice calls go on is not known'));
  });

  return {
    all: (): Held[] => [...held.keys()],
    /** Resolves once the call has taken the place of those before it. One that was never answered takes nobody's. */
    async hold(each: Held): Promise<void> {
      const number = each.call.then(() => order.next(each.sessionId));
      // Known before it has a number: whoever gets a higher one finds it here.
      held.set(each, number);
      await number;
      processNews.notify('voice_call', each.sessionId);
    },
    /** Ends the session's calls of this process and waits until they have left their places. */
    async endOf(sessionId: string): Promise<void> {
      const own = [...held.keys()].filter((each) => each.sessionId === sessionId);
      await Promise.all(own.map(async ({ call, over }) => (await call).end('replaced').then(() => over)));
    },
    remove: (each: Held) => void held.delete(each),
  };
}
