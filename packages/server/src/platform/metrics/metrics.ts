import { readdir } from 'node:fs/promises';
import { monitorEventLoopDelay, PerformanceObserver, performance } from 'node:perf_hooks';
import { type Model, ModelFailure } from '@vestra/agent/model';
import type { Models } from '@vestra/models/models';
import type { Logger } from 'pino';
import { type FileOperation, type FileOutcome, fileOperations, fileOutcomes } from '../files/file-store.ts';
import { createRegistry, type Registry } from './registry.ts';

/**
 * The metrics of one process for its operator. Counting only adds in memory. No label is an org, a user or any other value
 * that a caller chooses.
 */
export type Metrics = {
  registry: Registry;
  requestAnswered: (of: Answered) => void;
  modelAnswered: (of: ModelAnswered) => void;
  modelBegan: (provider: string, seconds: number) => void;
  jobEnded: (queue: string, outcome: (typeof jobOutcomes)[number], seconds: number) => void;
  /** The sweep found runs or rows without an owner and sent their jobs. */
  takenOver: (source: string, count: number) => void;
  deliveryAttempted: (isSuccess: boolean, seconds: number) => void;
  /** The delay between the write of an event and its delivery to a follower. */
  eventFollowed: (seconds: number) => void;
  /** `seconds` is null if only the outcome is counted. */
  fileStoreAnswered: (of: { operation: FileOperation; outcome: FileOutcome; seconds: number | null }) => void;
  turns: TurnWatch;
  stop: () => void;
};

type Answered = { method: string; route: string | null; status: number; code: string | null; seconds: number };
type ModelAnswered = { provider: string; outcome: string; seconds: number };

const jobOutcomes = ['done', 'failed', 'given_up'] as const;
const deliveryOutcomes = ['delivered', 'failed'] as const;
const upToSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const upToMinutes = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800];

type Options = {
  version: string;
  role: string;
  queues: readonly string[];
  /** The clock that sets the times of turns. */
  now: () => number;
};

export function createMetrics({ version, role, queues, now }: Options): Metrics {
  const registry = createRegistry();
  const { counter, histogram } = registry;
  registry.ask(
    {
      name: 'vestra_build_info',
      help: 'Version, Node and role of the process: always 1.',
      labels: ['version', 'node', 'role'],
    },
    () => [{ labels: { version, node: process.versions.node, role }, value: 1 }],
  );

  const requests = counter({
    name: 'vestra_http_requests_total',
    help: 'Requests answered, by the route as the contract writes it.',
    labels: ['method', 'route', 'status'],
  });
  const requestSeconds = histogram({
    name: 'vestra_http_request_duration_seconds',
    help: 'Until the answer, or the first byte of a stream.',
    labels: ['method', 'route'],
    buckets: upToSeconds,
  });
  const refusals = counter({
    name: 'vestra_http_errors_total',
    help: 'Requests answered with an error, by its code.',
    labels: ['code'],
  });
  const rateLimited = counter({
    name: 'vestra_rate_limited_requests_total',
    help: 'Requests refused because their caller had sent too many.',
  });

  const modelCalls = counter({
    name: 'vestra_model_calls_total',
    help: 'Calls of models that have ended: `ok`, `aborted`, or why they failed.',
    labels: ['provider', 'outcome'],
  });
  const modelSeconds = histogram({
    name: 'vestra_model_call_duration_seconds',
    help: 'Calls of models from the question to the last word, retries included.',
    labels: ['provider'],
    buckets: upToMinutes,
  });
  const modelFirst = histogram({
    name: 'vestra_model_first_token_seconds',
    help: 'Calls of models from the question to the first word or tool call.',
    labels: ['provider'],
    buckets: upToMinutes,
  });

  const jobs = counter({
    name: 'vestra_jobs_total',
    help: 'Runs of jobs that have ended in this process.',
    labels: ['queue', 'outcome'],
  });
  // Start at 0: without a previous sample Prometheus does not see the first count as an increase, and no alarm fires.
  for (const queue of queues) for (const outcome of jobOutcomes) jobs.add({ queue, outcome }, 0);
  const jobSeconds = histogram({
    name: 'vestra_job_duration_seconds',
    help: 'Runs of jobs from their start to their end.',
    labels: ['queue'],
    buckets: upToMinutes,
  });
  const takeovers = counter({
    name: 'vestra_lease_takeovers_total',
    help: 'Work whose process had gone silent, found by this one and sent on.',
    labels: ['source'],
  });

  const deliveries = counter({
    name: 'vestra_webhook_attempts_total',
    help: 'Attempts to deliver an event to a webhook.',
    labels: ['outcome'],
  });
  for (const outcome of deliveryOutcomes) deliveries.add({ outcome }, 0);
  const deliverySeconds = histogram({
    name: 'vestra_webhook_attempt_duration_seconds',
    help: 'Attempts to deliver, until the endpoint answered or failed to.',
    buckets: upToSeconds,
  });
  const followed = histogram({
    name: 'vestra_event_lag_seconds',
    help: 'From when an event of a conversation was written until a follower was given it.',
    buckets: upToSeconds,
  });
  const fileRequests = counter({
    name: 'vestra_file_store_requests_total',
    help: 'Requests to the file store that have ended: `ok`, or why they failed.',
    labels: ['operation', 'outcome'],
  });
  for (const operation of fileOperations)
    for (const outcome of fileOutcomes) fileRequests.add({ operation, outcome }, 0);
  const fileSeconds = histogram({
    name: 'vestra_file_store_request_duration_seconds',
    help: 'Requests to the file store, retries included. A download is measured until its first byte.',
    labels: ['operation'],
    buckets: [...upToSeconds, 30, 60],
  });
  const processMetrics = addProcessMetrics(registry);

  return {
    registry,
    requestAnswered({ method, route, status, code, seconds }) {
      const known = route === null ? { method: 'other', route: 'none' } : { method, route };
      requests.add({ ...known, status: String(status) });
      requestSeconds.observe(known, seconds);
      if (code !== null) refusals.add({ code });
      if (code === 'rate_limited') rateLimited.add({});
    },
    modelAnswered({ provider, outcome, seconds }) {
      modelCalls.add({ provider, outcome });
      modelSeconds.observe({ provider }, seconds);
    },
    modelBegan: (provider, seconds) => modelFirst.observe({ provider }, seconds),
    jobEnded(queue, outcome, seconds) {
      jobs.add({ queue, outcome });
      jobSeconds.observe({ queue }, seconds);
    },
    takenOver: (source, count) => takeovers.add({ source }, count),
    deliveryAttempted(isSuccess, seconds) {
      deliveries.add({ outcome: deliveryOutcomes[isSuccess ? 0 : 1] });
      deliverySeconds.observe({}, seconds);
    },
    eventFollowed: (seconds) => followed.observe({}, seconds),
    fileStoreAnswered({ operation, outcome, seconds }) {
      fileRequests.add({ operation, outcome });
      if (seconds !== null) fileSeconds.observe({ operation }, seconds);
    },
    turns: createTurnWatch(registry, { upToMinutes, now }),
    stop: processMetrics.stop,
  };
}

/** The fields of a conversation event that the turn metrics use. */
type LogEvent = { type: string; turn_id: string | null; data: unknown };

/** Counts turns from committed conversation events. */
type TurnWatch = { written: (events: readonly LogEvent[]) => void };

/** Limits the turns that wait for their first text. The oldest is dropped and not measured. */
const maxAwaited = 10_000;

export function createTurnWatch(
  { counter, histogram }: Registry,
  { upToMinutes, now }: { upToMinutes: readonly number[]; now: () => number },
): TurnWatch {
  const started = counter({ name: 'vestra_turns_started_total', help: 'Turns whose reply has begun.' });
  const ended = counter({
    name: 'vestra_turns_ended_total',
    help: 'Turns that have ended: `settled`, `stopped`, or `failed` with the code of their error.',
    labels: ['outcome', 'code'],
  });
  const seconds = histogram({
    name: 'vestra_turn_duration_seconds',
    help: 'Turns from the message to their end, with all that they waited for.',
    labels: ['outcome'],
    buckets: upToMinutes,
  });
  const firstText = histogram({
    name: 'vestra_turn_first_text_seconds',
    help: 'Turns from the message to the first words of their reply.',
    buckets: upToMinutes,
  });
  const awaited = new Map<string, number>();

  function begin(id: string, at: number): void {
    started.add({});
    awaited.set(id, at);
    if (awaited.size <= maxAwaited) return;
    const [oldest] = awaited.keys();
    awaited.delete(oldest as string);
  }

  function recordFirstText(id: string): void {
    const since = awaited.get(id);
    if (since === undefined) return;
    awaited.delete(id);
    firstText.observe({}, (now() - since) / 1000);
  }

  return {
    written(events) {
      for (const { type, turn_id: id, data } of events) {
        if (id === null) continue;
        if (type === 'reply.delta') recordFirstText(id);
        else if (type === 'turn.started') begin(id, Date.parse(turnIn(data).created_at));
        else if (type === 'turn.settled') {
          awaited.delete(id);
          const { status: outcome, error, created_at } = turnIn(data);
          ended.add({ outcome, code: error?.code ?? 'none' });
          seconds.observe({ outcome }, (now() - Date.parse(created_at)) / 1000);
        }
      }
    },
  };
}

const turnIn = (data: unknown) =>
  (data as { turn: { status: string; created_at: string; error: { code: string } | null } }).turn;

/** Shorter delays of the event loop do not matter. Each sample wakes the process, also if it has nothing else to do. */
const sampleEveryMs = 100;

/** Process metrics under the usual names of Node programs in Prometheus. */
function addProcessMetrics(registry: Registry): { stop: () => void } {
  const startedAt = Date.now() / 1000 - process.uptime();
  const loop = monitorEventLoopDelay({ resolution: sampleEveryMs });
  loop.enable();
  const collections = countGarbageCollections(registry);

  registry.ask({ name: 'process_start_time_seconds', help: 'When the process began, in Unix time.' }, () => startedAt);
  registry.ask({ name: 'process_cpu_seconds_total', help: 'Processor time used.', type: 'counter' }, () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  registry.ask({ name: 'process_resident_memory_bytes', help: 'Memory in use.' }, () => process.memoryUsage.rss());
  registry.ask({ name: 'process_open_fds', help: 'Open files and sockets.' }, async () => {
    const open = await readdir('/proc/self/fd').catch(() => null);
    return open?.length ?? null;
  });
  registry.ask({ name: 'nodejs_heap_size_used_bytes', help: 'Heap in use.' }, () => process.memoryUsage().heapUsed);
  registry.ask(
    {
      name: 'nodejs_eventloop_lag_seconds',
      help: 'How long the loop was held up since the last read.',
      labels: ['percentile'],
    },
    () => {
      if (loop.count === 0) return null;
      // The histogram measures the full interval between samples.
      const late = (measured: number) => Math.max(0, measured / 1e9 - sampleEveryMs / 1000);
      const lag = [
        { labels: { percentile: '50' }, value: late(loop.percentile(50)) },
        { labels: { percentile: '99' }, value: late(loop.percentile(99)) },
        { labels: { percentile: '100' }, value: late(loop.max) },
      ];
      loop.reset();
      return lag;
    },
  );
  registry.ask(
    {
      name: 'nodejs_eventloop_active_seconds_total',
      help: 'Time in which the loop worked; its rate is how busy it is.',
      type: 'counter',
    },
    () => performance.eventLoopUtilization().active / 1000,
  );
  return {
    stop() {
      loop.disable();
      collections.stop();
    },
  };
}

const kinds: Record<number, string> = { 1: 'minor', 4: 'major', 8: 'incremental', 16: 'weakcb' };

function countGarbageCollections(registry: Registry): { stop: () => void } {
  const seconds = registry.counter({
    name: 'nodejs_gc_duration_seconds_total',
    help: 'Time spent on collecting garbage.',
    labels: ['kind'],
  });
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { duration, detail: { kind } = {} } = entry as PerformanceEntry & { detail?: { kind?: number } };
      seconds.add({ kind: kinds[kind ?? 0] ?? 'other' }, duration / 1000);
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  return { stop: () => observer.disconnect() };
}

type ModelMetrics = Pick<Metrics, 'modelAnswered' | 'modelBegan'>;

/** Wraps the models to count and time each call. */
/** Counts the calls of models, and logs each that failed. */
export function measuredModels(models: Models, metrics: ModelMetrics, log: Logger): Models {
  const measured = new Map<string, Model>();
  return {
    ...models,
    model(asked) {
      const id = asked === 'default' ? (models.catalogue.defaultModel ?? asked) : asked;
      const known = measured.get(id);
      if (known) return known;
      const provider = models.catalogue.find('test', id)?.provider ?? 'unknown';
      const model = measuredModel(models.model(id), { id, provider }, metrics, log);
      measured.set(id, model);
      return model;
    },
  };
}

const measuredModel = (
  model: Model,
  { id, provider }: { id: string; provider: string },
  metrics: ModelMetrics,
  log: Logger,
): Model => ({
  async *stream(request) {
    const startedAt = performance.now();
    const passed = () => (performance.now() - startedAt) / 1000;
    let hasBegun = false;
    // The consumer may stop reading at any time.
    let outcome = 'aborted';
    try {
      for await (const event of model.stream(request)) {
        if (event.type === 'end') outcome = 'ok';
        else if (!hasBegun) {
          hasBegun = true;
          metrics.modelBegan(provider, passed());
        }
        yield event;
      }
    } catch (error) {
      if (!request.signal.aborted) {
        outcome = outcomeOf(error);
        log.warn(
          { provider, model: id, outcome, ...detailsOf(error), ms: Math.round(passed() * 1000) },
          'a model call failed',
        );
      }
      throw error;
    } finally {
      metrics.modelAnswered({ provider, outcome, seconds: passed() });
    }
  },
});

function outcomeOf(error: unknown): string {
  if (!(error instanceof ModelFailure)) return 'broken';
  return error.details.isOfAccount ? 'account' : error.reason;
}

/** The message of a failure is made of the vendor's status and codes. Other errors may quote the request. */
function detailsOf(error: unknown): Record<string, unknown> {
  if (!(error instanceof ModelFailure)) return { error: error instanceof Error ? error.name : typeof error };
  const { status, vendorRequestId } = error.details;
  return { reason: error.message, status, vendor_request_id: vendorRequestId };
}
