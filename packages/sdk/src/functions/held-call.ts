import type { Client } from '../client.ts';
import { VestraError } from '../errors.ts';

export type TakenCall = Awaited<ReturnType<Client['functions']['take']>>['data'][number];

export type HeldCall = {
  /** Ends when the call is no longer this process's to carry out. */
  signal: AbortSignal;
  /** Shown to the person; what is said in quick succession is joined to the last of it. */
  progress: (text: string) => void;
  /** Resolves when what was said has been told: the answer must not overtake it. */
  told: () => Promise<void>;
  /** Hands it to whoever takes it next, and ends the signal. */
  giveUp: () => Promise<void>;
  /** It is answered: nothing is renewed any more. */
  end: () => void;
};

const leastBetweenMs = 500;
const longestProgress = 200;

/** Keeps a call that was taken: renews it in time, and hears from that when it is over. */
export function holdCall(client: Client, { call_id, claim_id }: TakenCall, leaseSeconds: number): HeldCall {
  const over = new AbortController();
  let said: string | null = null;
  let timer = setTimeout(renew, everyMs());
  let sending: Promise<void> | null = null;
  let isEnded = false;

  function everyMs(): number {
    return (leaseSeconds * 1000) / 3;
  }

  function renew(): void {
    clearTimeout(timer);
    // One at a time, so that what was said last is also told last.
    sending ??= send().finally(() => {
      sending = null;
      if (!isEnded) timer = setTimeout(renew, said === null ? everyMs() : leastBetweenMs);
    });
  }

  async function send(): Promise<void> {
    const progress = said ?? undefined;
    said = null;
    try {
      await client.functions.renew({ call_id, claim_id, lease_s: leaseSeconds, progress });
    } catch (error) {
      // What passes is tried again with the next renewal; nobody else may take the call until its lease is over.
      if (error instanceof VestraError && (error.status === 409 || error.status === 404)) end(error);
    }
  }

  function end(reason?: unknown): void {
    isEnded = true;
    clearTimeout(timer);
    if (reason !== undefined) over.abort(reason);
  }

  return {
    signal: over.signal,
    progress(text) {
      const shown = text.replaceAll('\0', '').trim().slice(0, longestProgress).toWellFormed();
      if (isEnded || shown === '') return;
      const isFirst = said === null;
      said = shown;
      if (isFirst && sending === null) renew();
    },
    told: async () => {
      await sending;
    },
    async giveUp() {
      end(new Error('The server of the functions stops.'));
      await sending;
      await client.functions.release({ call_id, claim_id }).catch(() => {});
    },
    end: () => end(),
  };
}
