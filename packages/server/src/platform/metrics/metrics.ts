import { addProcessMetrics } from './process-metrics.ts';
import { createRegistry, type Registry } from './registry.ts';
import { createTurnWatch, type TurnWatch } from './turn-watch.ts';

/**
 * What one process counts for whoever runs it. Counting is a sum in memory and writes nothing; no label is an org, a user
 * or anything else that a caller chooses.
 */
export type Metrics = {
  registry: Registry;
  requestAnswered: (of: Answered) => void;
  modelAnswered: (of: ModelAnswered) => void;
  modelBegan: (provider: string, seconds: number) => void;
  jobEnded: (queue: string, outcome: (typeof jobOutcomes)[number], seconds: number) => void;
  /** Work that nobody owned any more was found, and goes on. */
  takenOver: (source: string, count: number) => void;
  deliveryAttempted: (isSuccess: boolean, seconds: number) => void;
  /** A follower was given an event so long after it was written. */
  eventFollowed: (seconds: number) => void;
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
  /** The clock by which turns are dated. */
  now: () => number;
};

export function createMetrics({ version, role, queues, now }: Options): Metrics {
  const registry = createRegistry();
  const { counter, histogram } = registry;
  registry.ask({ name: 'vestra_build_info', help: 'What runs: always 1.', labels: ['version', 'node', 'role'] }, () => [
    { labels: { version, node: process.versions.node, role }, value: 1 },
  ]);

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
  // A first one that is counted where there was nothing before is no rise, and would alarm nobody.
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
  const ofProcess = addProcessMetrics(registry);

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
    turns: createTurnWatch(registry, { upToMinutes, now }),
    stop: ofProcess.stop,
  };
}
