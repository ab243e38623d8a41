import { once } from 'node:events';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Mode } from '@vestra/contract/route';
import { cleanups, outbound, serve } from '../../platform/outbound/loopback.fixture.ts';
import type { RunTrace } from './run-trace.ts';
import { createTraceExporter, type TraceTarget } from './trace-exporter.ts';

type Received = { path: string; headers: IncomingHttpHeaders; body: Export };
type Attribute = {
  key: string;
  value: {
    stringValue?: string;
    intValue?: string;
    doubleValue?: number;
    arrayValue?: { values: { stringValue: string }[] };
  };
};
export type Span = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Attribute[];
  status: { code: number };
};
type Export = {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { scope: { name: string }; spans: Span[] }[] }[];
};

/** A collector on loopback with the given responses. By default it accepts every request. */
export async function startCollector(answer: (response: ServerResponse, nth: number) => void = accept) {
  const received: Received[] = [];
  const arrivals = new EventTarget();
  const { url } = await serve(async (request, response) => {
    const body = await text(request);
    received.push({ path: request.url ?? '', headers: request.headers, body: JSON.parse(body) });
    answer(response, received.length);
    arrivals.dispatchEvent(new Event('request'));
  });
  return {
    url,
    received,
    traces: () =>
      received.flatMap(({ body }) => spansIn(body)).filter(({ parentSpanId }) => parentSpanId === undefined),
    async until(requests: number): Promise<void> {
      while (received.length < requests) await once(arrivals, 'request');
    },
  };
}

export const accept = (response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end('{}');

export const spansIn = (body: Export) =>
  body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));

export const attributesOf = ({ attributes }: { attributes: Attribute[] }) =>
  Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue, doubleValue, arrayValue } }) => [
      key,
      stringValue ?? doubleValue ?? arrayValue?.values.map((each) => each.stringValue) ?? BigInt(intValue ?? 'none'),
    ]),
  );

type Options = Partial<Parameters<typeof createTraceExporter>[0]> & { allowPrivate?: boolean };

/** An exporter with recorded log lines. All tenants share one `target`. */
export function startExporter(target: TraceTarget, { allowPrivate = true, ...options }: Options = {}) {
  const lines: { dropped: number; orgs: { org_id: string; mode: string; dropped: number; reason: string }[] }[] = [];
  const exporter = createTraceExporter({
    outbound: outbound({ allowPrivate }),
    targetOf: async () => target,
    log: { warn: (line: (typeof lines)[number]) => void lines.push(line) },
    ...options,
    settings: { pausesMs: [1, 1], ...options.settings },
  });
  cleanups.push(() => exporter.stop());
  return { ...exporter, lines };
}

export const tenant = (orgId = 'org_a', mode: Mode = 'test') => ({ orgId, mode });

let made = 0;
export function runTrace(given: Partial<RunTrace> = {}): RunTrace {
  return {
    kind: 'turn',
    id: `turn_${++made}`,
    conversationId: 'conv_1',
    taskId: null,
    deployment: { id: 'dep_1', version: 3, name: 'Desk' },
    userId: 'ada',
    costUsd: 0.0125,
    parent: null,
    content: null,
    startedAt: new Date('2026-03-01T10:00:00.000Z'),
    endedAt: new Date('2026-03-01T10:00:05.250Z'),
    errorCode: null,
    missingServers: [],
    spans: [],
    ...given,
  };
}

export const modelCall = {
  kind: 'model',
  model: 'claude-sonnet-4-5',
  provider: 'anthropic',
  startedAt: new Date('2026-03-01T10:00:00.100Z'),
  endedAt: new Date('2026-03-01T10:00:01.500Z'),
  inputTokens: 100,
  outputTokens: 20,
  cacheReadTokens: 900,
  cacheWriteTokens: 50,
  costUsd: 0.0025,
  finishReason: 'tool_call',
  content: null,
  errorCode: null,
} as const satisfies RunTrace['spans'][number];

export const toolStep = {
  kind: 'tool',
  name: 'search_orders',
  server: null,
  callId: 'call_1',
  startedAt: new Date('2026-03-01T10:00:01.600Z'),
  endedAt: new Date('2026-03-01T10:00:02.000Z'),
  isError: false,
  content: null,
} as const satisfies RunTrace['spans'][number];
