import type { Client } from '../client.ts';
import { VestraError } from '../errors.ts';

export type TakenCall = Awaited<ReturnType<Client['functions']['take']>>['data'][number];

export type HeldCall = {
  /** Aborted when the call no longer belongs to this process. */
  signal: AbortSignal;
  /** Shown to the user. Of texts in quick succession only the last is sent. */
  progress: (text: string) => void;
  /** Resolves when all progress has been sent: the answer must not overtake it. */
  told: () => Promise<void>;
  /** Releases the call to another process and aborts the signal. */
  giveUp: () => Promise<void>;
  /** The call is answered: its claim is no longer renewed. */
  end: () => void;
};

const leastBetweenMs = 500;
const longestProgress = 200;

/** Renews the claim on a call in time, and detects from that when it is over. */
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
    // One request at a time, so that the last text is also sent last.
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
      // A transient error is retried with the next renewal. Nobody else may take the call before its lease expires.
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
