import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { createLimiter } from '../../platform/async/limiter.ts';
import { untilAborted } from '../../platform/async/until-aborted.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Outbound } from '../../platform/outbound/fetcher.ts';
import { OutboundFailure } from '../../platform/outbound/outbound-failure.ts';
import { exportRequest, type RunTrace } from './run-trace.ts';

type TraceExporter = {
  /** Never waits and never throws. A trace that cannot be kept until it is sent is counted as dropped. */
  record: (tenant: Tenant, trace: RunTrace) => void;
  /** How many traces of tenants who want them did not arrive. */
  dropped: () => number;
  /** Sends what waits; resolves when it has arrived or was dropped. */
  flush: () => Promise<void>;
  /** Sends what waits, for `graceMs` at most. What is recorded from now on is dropped. */
  stop: () => Promise<void>;
};

/**
 * Where a tenant's traces go; null: nowhere. `withContent`: they hold what was said. `unusable` says why they cannot be sent,
 * in words that may be logged.
 */
export type TraceTarget = (TraceEndpoint & { withContent?: boolean }) | { unusable: string } | null;

type Dependencies = {
  outbound: Outbound;
  targetOf: (tenant: Tenant) => Promise<TraceTarget>;
  log: Pick<Logger, 'warn'>;
  now?: () => number;
  settings?: Partial<typeof defaults>;
};

const defaults = {
  batchTraces: 100,
  /** A task may have hundreds of steps: the body of a call is bounded by spans too. */
  batchSpans: 2_000,
  /** From the first trace of a batch until it is sent. */
  waitMs: 2_000,
  /** Spans that wait, of one tenant and of all: a collector that is away must not fill the memory. */
  mostOfTenant: 10_000,
  mostOfAll: 200_000,
  /** Calls at once, over all tenants. */
  concurrency: 128,
  timeoutMs: 5_000,
  pausesMs: [250, 1_000],
  graceMs: 5_000,
};

type Lane = {
  tenant: Tenant;
  waiting: RunTrace[];
  spans: number;
  timer: NodeJS.Timeout | undefined;
  sending: Promise<void> | null;
};

/** Sends traces off the path of the runs, in batches per org and mode. */
export function createTraceExporter({
  outbound,
  targetOf,
  log,
  now = Date.now,
  settings,
}: Dependencies): TraceExporter {
  const limits = { ...defaults, ...settings };
  const lanes = new Map<string, Lane>();
  const drops = createDropLog({ log, now });
  const limiter = createLimiter({ atOnce: limits.concurrency });
  const patience = new AbortController();
  let spansOfAll = 0;
  let isStopped = false;

  function record({ orgId, mode }: Tenant, trace: RunTrace): void {
    const tenant = { orgId, mode };
    if (isStopped) return void drops.add(tenant, 1, 'The server is stopping.');
    const lane = lanes.get(nameOf(tenant)) ?? { tenant, waiting: [], spans: 0, timer: undefined, sending: null };
    const spans = spansIn(trace);
    if (lane.spans + spans > limits.mostOfTenant || spansOfAll + spans > limits.mostOfAll) {
      return void drops.add(tenant, 1, 'More traces wait than can be kept.');
    }
    lanes.set(nameOf(tenant), lane);
    lane.waiting.push(trace);
    lane.spans += spans;
    spansOfAll += spans;
    const isFull = lane.waiting.length >= limits.batchTraces || lane.spans >= limits.batchSpans;
    if (isFull) void send(lane);
    else lane.timer ??= setTimeout(() => void send(lane), limits.waitMs).unref();
  }

  function send(lane: Lane): Promise<void> {
    lane.sending ??= drain(lane);
    return lane.sending;
  }

  /** One batch of a tenant after the other, until none waits. */
  async function drain(lane: Lane): Promise<void> {
    while (lane.waiting.length > 0) await sendBatch(lane.tenant, takeBatch(lane));
    // In the same breath as the check: a trace that is recorded later finds no lane and opens another.
    clearTimeout(lane.timer);
    lanes.delete(nameOf(lane.tenant));
  }

  function takeBatch(lane: Lane): RunTrace[] {
    const batch: RunTrace[] = [];
    let spans = 0;
    for (const trace of lane.waiting) {
      if (batch.length === limits.batchTraces || (batch.length > 0 && spans + spansIn(trace) > limits.batchSpans))
        break;
      batch.push(trace);
      spans += spansIn(trace);
    }
    lane.waiting.splice(0, batch.length);
    lane.spans -= spans;
    spansOfAll -= spans;
    return batch;
  }

  const sendBatch = (tenant: Tenant, batch: readonly RunTrace[]) =>
    limiter.run(nameOf(tenant), () => sendNow(tenant, batch));

  async function sendNow(tenant: Tenant, batch: readonly RunTrace[]): Promise<void> {
    const drop = (reason: string, count = batch.length) => drops.add(tenant, count, reason);
    try {
      // A database that is away must not hold up the end of the process.
      const target = await untilAborted(targetOf(tenant), patience.signal);
      if (target === null) return;
      if ('unusable' in target) return drop(target.unusable);
      const { timeoutMs, pausesMs } = limits;
      const body = JSON.stringify(exportRequest(tenant, batch));
      const outcome = await deliver(outbound, { target, body, timeoutMs, pausesMs, signal: patience.signal });
      if (!outcome.isSent) return drop(outcome.reason);
      const { refusedSpans } = outcome;
      // A trace that lacks a span has not arrived; how many traces they belong to the answer does not say.
      if (refusedSpans > 0) drop(`The collector refused ${refusedSpans} spans.`, Math.min(refusedSpans, batch.length));
    } catch (error) {
      // Whatever it is, the next batch must still be sent. Its message may hold values of a statement.
      drop(`They could not be prepared: ${error instanceof Error ? error.name : 'unknown error'}.`);
    }
  }

  const flush = async () => void (await Promise.all([...lanes.values()].map(send)));

  return {
    record,
    dropped: drops.total,
    flush,
    async stop() {
      isStopped = true;
      const impatience = setTimeout(() => patience.abort(), limits.graceMs);
      await flush();
      clearTimeout(impatience);
      drops.say();
    },
  };
}

const nameOf = ({ orgId, mode }: Tenant) => `${orgId} ${mode}`;
const spansIn = (trace: RunTrace) => 1 + trace.spans.length;

type TraceEndpoint = { endpoint: string; headers: Record<string, string> };

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
async function deliver(outbound: Outbound, delivery: Delivery): Promise<Outcome> {
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

type Drop = { org_id: string; mode: string; dropped: number; reason: string };

const quietMs = 60_000;
const mostNamed = 20;

/** Counts what did not arrive and says so at most once a minute: a collector that is away fails with every batch. */
function createDropLog({ log, now }: { log: Pick<Logger, 'warn'>; now: () => number }) {
  let total = 0;
  let saidAt = Number.NEGATIVE_INFINITY;
  let unsaid = new Map<string, Drop>();

  function say(): void {
    if (unsaid.size === 0) return;
    const drops = [...unsaid.values()];
    unsaid = new Map();
    saidAt = now();
    const dropped = drops.reduce((sum, drop) => sum + drop.dropped, 0);
    log.warn({ dropped, orgs: drops.slice(0, mostNamed) }, 'traces were not sent');
  }

  return {
    total: () => total,
    /** `reason` is logged: it must hold nothing secret. */
    add({ orgId, mode }: Tenant, dropped: number, reason: string): void {
      total += dropped;
      const key = `${orgId} ${mode}`;
      unsaid.set(key, { org_id: orgId, mode, dropped: (unsaid.get(key)?.dropped ?? 0) + dropped, reason });
      if (now() - saidAt >= quietMs) say();
    },
    /** What was held back, at the end. */
    say,
  };
}
