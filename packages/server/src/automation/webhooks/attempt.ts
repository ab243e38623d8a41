import { presentEvent } from '../../account/index.ts';
import type { Outbound } from '../../platform/outbound/fetcher.ts';
import { OutboundFailure } from '../../platform/outbound/outbound-failure.ts';
import { type Outcome, outcomeOfAnswer } from './delivery.ts';
import type { SendableEvent } from './delivery-store.ts';
import { signedHeaders } from './sign.ts';

/** Without a duration nothing was sent. */
export type Attempted = Outcome & { durationMs: number | null };

type Dependencies = { outbound: Outbound; now: () => Date };

const withinMs = 15_000;
/** Nothing of an answer's body is used. A little is read, since a connection can only then serve the next delivery. */
const mostBytes = 16_384;

/** Sends one delivery once. Throws only the reason of `signal`. */
export async function attempt(
  { outbound, now }: Dependencies,
  {
    url,
    event,
    secrets,
    signal,
  }: { url: string; event: SendableEvent; secrets: readonly string[]; signal?: AbortSignal },
): Promise<Attempted> {
  const body = JSON.stringify(presentEvent(event));
  const startedAt = performance.now();
  const ended = (outcome: Outcome) => ({ ...outcome, durationMs: Math.round(performance.now() - startedAt) });
  try {
    const { status } = await outbound.fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...signedHeaders({ eventId: event.id, body, at: now(), secrets }),
      },
      body,
      timeoutMs: withinMs,
      maxBytes: mostBytes,
      signal,
    });
    return ended(outcomeOfAnswer(status));
  } catch (error) {
    if (error instanceof OutboundFailure) return ended(outcomeOfFailure(error));
    throw error;
  }
}

/** The status decides, whatever the body is like: it may be long, torn or written in an unknown way, but not late. */
function outcomeOfFailure({ reason, status, message }: OutboundFailure): Outcome {
  if (status !== null && reason !== 'timeout') return outcomeOfAnswer(status);
  return { isSuccess: false, isGone: false, statusCode: status, error: message };
}
