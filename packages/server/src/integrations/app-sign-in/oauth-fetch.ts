import type { Outbound } from '../../platform/outbound/fetcher.ts';
import { OutboundFailure } from '../../platform/outbound/outbound-failure.ts';

/** The guarded fetcher in the shape that the official client takes, for one step of a sign-in. */
export type OAuthFetch = {
  fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** One of the calls got no answer, or one that says that the fault is the other side's and passes. */
  wasAway: () => boolean;
  /** One of the answers was larger than any that is read. */
  wentTooFar: () => boolean;
};

const largestAnswer = 256 * 1024;
const bodiless = new Set([204, 205, 304]);

export function oauthFetch(outbound: Pick<Outbound, 'fetch'>, { timeoutMs = 10_000 } = {}): OAuthFetch {
  let isAway = false;
  let isTooLarge = false;
  return {
    wasAway: () => isAway,
    wentTooFar: () => isTooLarge,
    async fetch(url, init = {}) {
      const { method = 'GET', headers, body } = init;
      const sent = body === undefined || body === null ? undefined : String(body);
      const answer = await outbound
        .fetch(String(url), {
          method,
          headers: Object.fromEntries(new Headers(headers)),
          timeoutMs,
          maxBytes: largestAnswer,
          ...(sent !== undefined && { body: sent }),
        })
        .catch((error: unknown) => {
          isAway = true;
          isTooLarge ||= error instanceof OutboundFailure && error.reason === 'too_large';
          throw error;
        });
      const { status } = answer;
      if (status >= 500 || status === 429) isAway = true;
      const text = bodiless.has(status) ? null : new TextDecoder().decode(answer.body);
      return new Response(text, { status, headers: answer.headers });
    },
  };
}
