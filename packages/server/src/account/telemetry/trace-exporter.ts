import { validateHeaderName, validateHeaderValue } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { createLimiter } from '../../platform/async/limiter.ts';
import { untilAborted } from '../../platform/async/waiters.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Database } from '../../platform/db/pool.ts';
import type { Outbound } from '../../platform/outbound/fetcher.ts';
import { OutboundFailure } from '../../platform/outbound/outbound-failure.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import { findSettings } from '../orgs/store.ts';
import { readSecrets } from '../secrets/secrets.ts';
import { exportRequest, type RunTrace, type TenantTrace } from './run-trace.ts';

type TraceExporter = {
  /** Never waits and never throws. If the buffer is full, the trace is dropped and counted. */
  record: (tenant: Tenant, trace: RunTrace) => void;
  /** The number of dropped traces. */
  dropped: () => number;
  /** Sends pending traces. Resolves when all of them have arrived or were dropped. */
  flush: () => Promise<void>;
  /** Sends pending traces for at most `graceMs`. Drops traces that are recorded from now on. */
  stop: () => Promise<void>;
};

/**
 * The destination of a tenant's traces. Null: none. `withContent`: traces include messages. `unusable` is the reason
 * why traces cannot be sent. It is logged, so it must not contain secrets.
 */
export type TraceTarget = (TraceEndpoint & { withContent?: boolean }) | { unusable: string } | null;

type Dependencies = {
  outbound: Outbound;
  targetOf: (tenant: Tenant) => Promise<TraceTarget>;
  /** All tenants have one target: their traces are sent together. */
  isShared?: boolean;
  log: Pick<Logger, 'warn'>;
  now?: () => number;
  settings?: Partial<typeof defaults>;
};

const defaults = {
  batchTraces: 100,
  /** A task may have hundreds of steps, so the request body is also limited by spans. */
  batchSpans: 2_000,
  /** From the first trace of a batch until it is sent. */
  waitMs: 2_000,
  /** Pending spans of one tenant and of all, so that an unreachable collector cannot fill the memory. */
  maxSpansOfTenant: 10_000,
  maxSpansOfAll: 200_000,
  /** Concurrent requests, over all tenants. */
  concurrency: 128,
  timeoutMs: 5_000,
  pausesMs: [250, 1_000],
  graceMs: 5_000,
};

type Lane = {
  name: string;
  waiting: TenantTrace[];
  spans: number;
  timer: NodeJS.Timeout | undefined;
  sending: Promise<void> | null;
};

/** Sends traces in the background, in batches per org and mode unless `isShared`. */
export function createTraceExporter({
  outbound,
  targetOf,
  isShared = false,
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

  const laneOf = (tenant: Tenant) => (isShared ? 'all' : nameOf(tenant));

  function record({ orgId, mode }: Tenant, trace: RunTrace): void {
    const tenant = { orgId, mode };
    if (isStopped) return void drops.add(tenant, 1, 'The server is stopping.');
    const name = laneOf(tenant);
    const lane = lanes.get(name) ?? { name, waiting: [], spans: 0, timer: undefined, sending: null };
    const spans = spansIn(trace);
    if (lane.spans + spans > limits.maxSpansOfTenant || spansOfAll + spans > limits.maxSpansOfAll) {
      return void drops.add(tenant, 1, 'Too many traces wait to be sent.');
    }
    lanes.set(name, lane);
    lane.waiting.push({ tenant, trace });
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

  /** Sends the batches of a lane one after the other, until none is pending. */
  async function drain(lane: Lane): Promise<void> {
    while (lane.waiting.length > 0) await sendBatch(lane, takeBatch(lane));
    // No await after the check above: a trace that is recorded later finds no lane and opens another.
    clearTimeout(lane.timer);
    lanes.delete(lane.name);
  }

  function takeBatch(lane: Lane): [TenantTrace, ...TenantTrace[]] {
    const batch: TenantTrace[] = [];
    let spans = 0;
    for (const each of lane.waiting) {
      const isFull = batch.length > 0 && spans + spansIn(each.trace) > limits.batchSpans;
      if (batch.length === limits.batchTraces || isFull) break;
      batch.push(each);
      spans += spansIn(each.trace);
    }
    lane.waiting.splice(0, batch.length);
    lane.spans -= spans;
    spansOfAll -= spans;
    return batch as [TenantTrace, ...TenantTrace[]];
  }

  const sendBatch = ({ name }: Lane, batch: [TenantTrace, ...TenantTrace[]]) => limiter.run(name, () => sendNow(batch));

  async function sendNow(batch: [TenantTrace, ...TenantTrace[]]): Promise<void> {
    const drop = (reason: string, count = batch.length) => {
      const dropped = Map.groupBy(batch.slice(0, count), ({ tenant }) => nameOf(tenant));
      for (const [{ tenant }, ...more] of dropped.values() as Iterable<[TenantTrace, ...TenantTrace[]]>)
        drops.add(tenant, 1 + more.length, reason);
    };
    try {
      // An unreachable database must not delay shutdown.
      const target = await untilAborted(targetOf(batch[0].tenant), patience.signal);
      if (target === null) return;
      if ('unusable' in target) return drop(target.unusable);
      const { timeoutMs, pausesMs } = limits;
      const body = JSON.stringify(exportRequest(batch));
      const outcome = await deliver(outbound, { target, body, timeoutMs, pausesMs, signal: patience.signal });
      if (!outcome.isSent) return drop(outcome.reason);
      const { refusedSpans } = outcome;
      // A trace without one of its spans counts as dropped. The response does not say how many traces are affected.
      if (refusedSpans > 0) drop(`The collector refused ${refusedSpans} spans.`, Math.min(refusedSpans, batch.length));
    } catch (error) {
      // The next batch must still be sent. Do not log the message: it may contain values of a statement.
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
      drops.flush();
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

/** `refusedSpans`: the collector accepted the batch except for these spans. */
type DeliveryResult = { isSent: true; refusedSpans: number } | { isSent: false; reason: string };

/** Sends one batch to one collector. If the failure is temporary, retries after each of the pauses. */
async function deliver(outbound: Outbound, delivery: Delivery): Promise<DeliveryResult> {
  const { pausesMs, signal } = delivery;
  for (let tried = 0; ; tried++) {
    const result = await attempt(outbound, delivery);
    if (result.isSent || !result.mayPass) return result;
    const pause = pausesMs[tried];
    const asked = result.retryAfterMs ?? 0;
    if (pause === undefined || asked > maxRetryAfterMs || signal.aborted) return result;
    // Add jitter, so that batches of many orgs are not sent to one collector at the same moment.
    await sleep(Math.max(asked, pause * (0.5 + Math.random() / 2)), undefined, { signal }).catch(() => {});
    if (signal.aborted) return result;
  }
}

const maxRetryAfterMs = 5_000;
const answerBytes = 65_536;

/** The statuses that OTLP calls retryable. A client must not retry any other. */
const passingStatuses = new Set([429, 502, 503, 504]);

type DeliveryAttempt =
  | { isSent: true; refusedSpans: number }
  | { isSent: false; reason: string; mayPass: boolean; retryAfterMs?: number };

async function attempt(outbound: Outbound, { target, body, timeoutMs, signal }: Delivery): Promise<DeliveryAttempt> {
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
    // The collector had accepted the spans before its response broke off.
    if (error.status !== null && isSuccess(error.status)) return { isSent: true, refusedSpans: 0 };
    // Do not retry after a timeout: the collector may have accepted the spans, and other batches are waiting.
    return { isSent: false, reason: error.message, mayPass: error.reason === 'network' };
  }
}

/** Appends the path of OTLP to the endpoint, unless it already ends with it. */
function tracesUrl(endpoint: string): string {
  const url = new URL(endpoint);
  if (!/\/v1\/traces\/?$/.test(url.pathname)) url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/traces`;
  return url.href;
}

const isSuccess = (status: number) => status >= 200 && status < 300;

const withoutContentType = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'content-type'));

/** The number may be a string, because it has 64 bits. A response that is not JSON reports no refused spans. */
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
const maxOrgsLogged = 20;

/** Counts dropped spans and logs them at most once a minute, because an unreachable collector fails every batch. */
function createDropLog({ log, now }: { log: Pick<Logger, 'warn'>; now: () => number }) {
  let total = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;
  let unlogged = new Map<string, Drop>();

  function flush(): void {
    if (unlogged.size === 0) return;
    const drops = [...unlogged.values()];
    unlogged = new Map();
    loggedAt = now();
    const dropped = drops.reduce((sum, drop) => sum + drop.dropped, 0);
    log.warn({ dropped, orgs: drops.slice(0, maxOrgsLogged) }, 'traces were not sent');
  }

  return {
    total: () => total,
    /** `reason` is logged, so it must not contain secrets. */
    add({ orgId, mode }: Tenant, dropped: number, reason: string): void {
      total += dropped;
      const key = `${orgId} ${mode}`;
      unlogged.set(key, { org_id: orgId, mode, dropped: (unlogged.get(key)?.dropped ?? 0) + dropped, reason });
      if (now() - loggedAt >= quietMs) flush();
    },
    /** Logs the drops that are not logged yet. */
    flush,
  };
}

type TargetDependencies = { db: Database; vault: Vault; now?: () => number };

const targetCachedMs = 5_000;
const maxCachedTargets = 10_000;

/** Reads the trace endpoint of a tenant from the org's settings. Changes take effect within a few seconds. */
export function createTraceTargets({
  db,
  vault,
  now = Date.now,
}: TargetDependencies): (tenant: Tenant) => Promise<TraceTarget> {
  const kept = new Map<string, { until: number; target: TraceTarget }>();

  return async (tenant) => {
    const name = `${tenant.orgId} ${tenant.mode}`;
    const known = kept.get(name);
    if (known && known.until > now()) return known.target;
    const target = await readTarget(db, vault, tenant);
    if (kept.size >= maxCachedTargets) kept.clear();
    kept.set(name, { until: now() + targetCachedMs, target });
    return target;
  };
}

async function readTarget(db: Database, vault: Vault, tenant: Tenant): Promise<TraceTarget> {
  const settings = await findSettings(db, tenant);
  const { otlp_endpoint: endpoint, otlp_headers_secret: secret, otlp_content: withContent } = settings;
  if (endpoint === null) return null;
  if (secret === null) return { endpoint, headers: {}, withContent };
  const value = (await readSecrets(db, vault, tenant, null, [secret])).get(secret);
  if (value === undefined) return { unusable: `The secret ${secret} is not stored in ${tenant.mode} mode.` };
  const headers = traceHeaders(value);
  if (headers) return { endpoint, headers, withContent };
  return { unusable: `The secret ${secret} is no JSON object of header names and values that HTTP can carry.` };
}

/** Parses the value of a secret as headers. Null if it is not a JSON object of valid HTTP headers. */
export function traceHeaders(value: string): Record<string, string> | null {
  const parsed = parsedOrNull(value);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return null;
  const headers = Object.entries(parsed);
  return headers.every(isSendable) ? Object.fromEntries(headers) : null;
}

function parsedOrNull(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return null;
  }
}

function isSendable(header: [name: string, value: unknown]): header is [string, string] {
  const [name, value] = header;
  if (typeof value !== 'string') return false;
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}
