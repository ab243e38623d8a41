import { setTimeout as sleep } from 'node:timers/promises';
import type { Outbound } from '../../platform/outbound/fetcher.ts';
import { OutboundFailure } from '../../platform/outbound/outbound-failure.ts';

export type TraceEndpoint = { endpoint: string; headers: Record<string, string> };

type Delivery = {
  target: TraceEndpoint;
  body: string;
  timeoutMs: number;
  pausesMs: readonly number[];
  signal: AbortSignal;
};

/** `refusedSpans` came with a success: the collector took the rest. */
type Outcome = { isSent: true; refusedSpans: number } | { isSent: false; reason: string };

/** One batch to one collector, tried again after each of the pauses where the fault may pass. */
export async function deliver(outbound: Outbound, delivery: Delivery): Promise<Outcome> {
  const { pausesMs, signal } = delivery;
  for (let tried = 0; ; tried++) {
    const result = await attempt(outbound, delivery);
    if (result.isSent || !result.mayPass) return result;
    const pause = pausesMs[tried];
    const asked = result.retryAfterMs ?? 0;
    if (pause === undefined || asked > longestAskedMs || signal.aborted) return result;
    // With jitter, so that batches of many orgs to one collector do not come back together.
    await sleep(Math.max(asked, pause * (0.5 + Math.random() / 2)), undefined, { signal }).catch(() => {});
    if (signal.aborted) return result;
  }
}

const longestAskedMs = 5_000;
const answerBytes = 65_536;

/** What the protocol calls retryable; every other status must not be tried again. */
const passingStatuses = new Set([429, 502, 503, 504]);

type Attempt =
  | { isSent: true; refusedSpans: number }
  | { isSent: false; reason: string; mayPass: boolean; retryAfterMs?: number };

async function attempt(outbound: Outbound, { target, body, timeoutMs, signal }: Delivery): Promise<Attempt> {
  const host = new URL(target.endpoint).hostname;
  try {
    const {
      status,
      headers,
      body: answer,
    } = await outbound.fetch(tracesUrl(target.endpoint), {
      method: 'POST',
      headers: { ...withoutContentType(target.headers), 'content-type': 'application/json' },
      body,
      timeoutMs,
      maxBytes: answerBytes,
      signal,
    });
    if (isSuccess(status)) return { isSent: true, refusedSpans: refusedSpansIn(answer) };
    const retryAfterMs = Number(headers.get('retry-after') ?? 0) * 1000;
    return {
      isSent: false,
      reason: `${host} answered ${status}.`,
      mayPass: passingStatuses.has(status),
      ...(retryAfterMs > 0 && { retryAfterMs }),
    };
  } catch (error) {
    if (signal.aborted)
      return { isSent: false, reason: 'The server stopped before they could be sent.', mayPass: false };
    if (!(error instanceof OutboundFailure)) throw error;
    // The collector had taken them when its answer broke off.
    if (error.status !== null && isSuccess(error.status)) return { isSent: true, refusedSpans: 0 };
    // One that hangs is not asked again: it may have taken them, and others wait for the place.
    return { isSent: false, reason: error.message, mayPass: error.reason === 'network' };
  }
}

/** The endpoint as given, with the protocol's path unless it ends so. */
function tracesUrl(endpoint: string): string {
  const url = new URL(endpoint);
  if (!/\/v1\/traces\/?$/.test(url.pathname)) url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/traces`;
  return url.href;
}

const isSuccess = (status: number) => status >= 200 && status < 300;

const withoutContentType = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'content-type'));

/** A 64-bit number, so it may come as text. An answer that is no JSON says nothing of refused spans. */
function refusedSpansIn(answer: Uint8Array): number {
  try {
    const parsed = JSON.parse(Buffer.from(answer).toString());
    const count = Number(parsed?.partialSuccess?.rejectedSpans ?? 0);
    return Number.isSafeInteger(count) && count > 0 ? count : 0;
  } catch {
    return 0;
  }
}
