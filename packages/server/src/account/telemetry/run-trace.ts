import { createHash, randomUUID } from 'node:crypto';
import type { Tenant } from '../../platform/caller.ts';
import { version } from '../../platform/version.ts';

/**
 * The trace of a finished run: one per turn or task. Only the fields `content` contain messages, arguments or results.
 * They are set only if the org asked for them, and never contain credentials.
 */
export type RunTrace = {
  kind: 'turn' | 'task';
  /**
   * The id of the turn or task. Trace and span ids are derived from it, so that a repeated export is the same trace.
   */
  id: string;
  conversationId: string | null;
  /** The task itself, or the one that a turn was handed off to. */
  taskId: string | null;
  deployment: { id: string; version: number; name: string | null } | null;
  userId: string | null;
  /** All charges of the run, in US dollars. */
  costUsd: number | null;
  /** The caller's span, if the message named one. */
  parent: TraceParent | null;
  /** The user's message and the reply. */
  content: { input: string; output: string | null } | null;
  startedAt: Date;
  endedAt: Date;
  /** Null if the run succeeded. */
  errorCode: string | null;
  /** The slugs of tool servers that were unavailable. */
  missingServers: readonly string[];
  /** In order of their start. */
  spans: readonly (ModelCallSpan | ToolStepSpan)[];
};

export type TraceParent = { traceId: string; spanId: string };

export type ModelCallSpan = {
  kind: 'model';
  model: string;
  provider: string;
  startedAt: Date;
  endedAt: Date;
  /** Without tokens that the vendor's cache served or stored, which have separate prices. */
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  costUsd: number;
  finishReason: 'stop' | 'tool_call' | 'length' | 'error';
  content: { output: string } | null;
  errorCode: string | null;
};

type ToolStepSpan = {
  kind: 'tool';
  name: string;
  /** The slug of the MCP server. Null for functions and built-in tools. */
  server: string | null;
  callId: string;
  startedAt: Date;
  endedAt: Date;
  isError: boolean;
  content: { arguments: string; result: string } | null;
};

export type TenantTrace = { tenant: Tenant; trace: RunTrace };

/** Identifies this process for as long as it runs. */
const instanceId = randomUUID();

/**
 * The body of an export in OTLP's JSON encoding: ids in hex, 64-bit numbers as decimal strings, enums as numbers. Names
 * of spans and attributes follow the GenAI semantic conventions. Attributes without a convention begin with `vestra.`.
 * Each org and mode is one resource.
 */
export function exportRequest(traces: readonly TenantTrace[]) {
  const tenants = Map.groupBy(traces, ({ tenant: { orgId, mode } }) => `${orgId} ${mode}`);
  return {
    resourceSpans: [...tenants.values()].map((ofTenant) => {
      const [{ tenant }] = ofTenant as [TenantTrace];
      return {
        resource: {
          attributes: attributes({
            'service.name': 'vestra',
            'service.version': version,
            'service.instance.id': instanceId,
            'vestra.org.id': tenant.orgId,
            'vestra.mode': tenant.mode,
          }),
        },
        scopeSpans: [{ scope: { name: 'vestra', version }, spans: ofTenant.flatMap(({ trace }) => spansOf(trace)) }],
      };
    }),
  };
}

/** The operator of an installation gets no content, also if the org asked for it. */
export const withoutContent = (trace: RunTrace): RunTrace => ({
  ...trace,
  content: null,
  spans: trace.spans.map((span) => ({ ...span, content: null })),
});

const spanKind = { internal: 1, client: 3 };
const statusCode = { unset: 0, error: 2 };

function spansOf(trace: RunTrace) {
  const traceId = trace.parent?.traceId ?? hashed(`trace ${trace.id}`, 16);
  const rootId = hashed(`span ${trace.id}`, 8);
  const inside = trace.spans.map((span, at) => ({
    traceId,
    spanId: hashed(`span ${trace.id} ${at}`, 8),
    parentSpanId: rootId,
    ...(span.kind === 'model' ? modelCall(span, trace) : toolStep(span, trace)),
  }));
  const parent = trace.parent && { parentSpanId: trace.parent.spanId };
  return [{ traceId, spanId: rootId, ...parent, ...run(trace) }, ...inside];
}

function run(trace: RunTrace) {
  const calls = trace.spans.filter((span) => span.kind === 'model');
  const models = new Set(calls.map(({ model }) => model));
  return {
    name: trace.deployment?.name ? `invoke_agent ${trace.deployment.name}` : 'invoke_agent',
    kind: spanKind.internal,
    ...during(trace),
    attributes: attributes({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': calls[0] ? providerName(calls[0].provider) : 'vestra',
      'gen_ai.request.model': models.size === 1 ? [...models][0] : undefined,
      'gen_ai.agent.id': trace.deployment?.id,
      'gen_ai.agent.name': trace.deployment?.name,
      'gen_ai.agent.version': trace.deployment?.version.toString(),
      'gen_ai.conversation.id': trace.conversationId,
      'user.id': trace.userId,
      ...(calls.length > 0 && usage(sumOf(calls))),
      'gen_ai.usage.cost': cost(trace.costUsd),
      'gen_ai.input.messages': trace.content && said('user', trace.content.input),
      'gen_ai.output.messages': trace.content?.output ? said('assistant', trace.content.output) : undefined,
      'vestra.run.kind': trace.kind,
      'vestra.turn.id': trace.kind === 'turn' ? trace.id : undefined,
      'vestra.task.id': trace.taskId,
      'vestra.mcp_servers.away':
        trace.missingServers.length > 0 ? trace.missingServers.map(toolName).join(' ') : undefined,
      'error.type': errorType(trace.errorCode),
    }),
    status: statusOf(trace.errorCode !== null),
  };
}

function modelCall(span: ModelCallSpan, { conversationId }: RunTrace) {
  return {
    name: `chat ${span.model}`,
    // The offline model runs in this process.
    kind: span.provider === 'offline' ? spanKind.internal : spanKind.client,
    ...during(span),
    attributes: attributes({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': providerName(span.provider),
      'gen_ai.request.model': span.model,
      'gen_ai.conversation.id': conversationId,
      'gen_ai.response.model': span.model,
      'gen_ai.response.finish_reasons': [span.finishReason],
      ...usage(span),
      'gen_ai.usage.cost': cost(span.costUsd),
      'gen_ai.output.messages': span.content && said('assistant', span.content.output, span.finishReason),
      'error.type': errorType(span.errorCode),
    }),
    status: statusOf(span.errorCode !== null),
  };
}

function toolStep(span: ToolStepSpan, { conversationId }: RunTrace) {
  const name = toolName(span.name);
  return {
    name: `execute_tool ${name}`,
    kind: spanKind.internal,
    ...during(span),
    attributes: attributes({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': name,
      'gen_ai.tool.call.id': span.callId,
      'gen_ai.tool.type': span.server === null ? undefined : 'extension',
      'gen_ai.conversation.id': conversationId,
      'vestra.mcp_server.slug': span.server,
      'gen_ai.tool.call.arguments': span.content?.arguments,
      'gen_ai.tool.call.result': span.content?.result,
      'error.type': span.isError ? 'tool_error' : undefined,
    }),
    status: statusOf(span.isError),
  };
}

type Tokens = Pick<ModelCallSpan, 'inputTokens' | 'outputTokens' | 'cacheReadTokens' | 'cacheWriteTokens'>;

/** The conventions count cached tokens among the input tokens. */
const usage = ({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Tokens) => ({
  'gen_ai.usage.input_tokens': inputTokens + cacheReadTokens + cacheWriteTokens,
  'gen_ai.usage.output_tokens': outputTokens,
  'gen_ai.usage.cache_read.input_tokens': cacheReadTokens,
  'gen_ai.usage.cache_creation.input_tokens': cacheWriteTokens,
});

function sumOf(calls: readonly ModelCallSpan[]): Tokens {
  const sum = (count: (call: ModelCallSpan) => number) => calls.reduce((total, call) => total + count(call), 0);
  return {
    inputTokens: sum((call) => call.inputTokens),
    outputTokens: sum((call) => call.outputTokens),
    cacheReadTokens: sum((call) => call.cacheReadTokens),
    cacheWriteTokens: sum((call) => call.cacheWriteTokens),
  };
}

/** The names of providers in the conventions of OpenTelemetry. */
const providerNames = new Map([
  ['google', 'gcp.gemini'],
  ['vertex', 'gcp.vertex_ai'],
  ['bedrock', 'aws.bedrock'],
  ['azure', 'azure.ai.openai'],
]);
const providerName = (provider: string) => providerNames.get(provider) ?? provider;

/** A model may call a tool that does not exist, with any text as its name. */
const toolName = (name: string) => (/^[\w.:/-]{1,128}$/.test(name) ? name : 'unknown');

/** Sends only codes, never messages. The conventions use `_OTHER` for an error without a code. */
function errorType(code: string | null): string | undefined {
  if (code === null) return undefined;
  return /^[a-z][a-z0-9_]{0,63}$/.test(code) ? code : '_OTHER';
}

const statusOf = (isError: boolean) => ({ code: isError ? statusCode.error : statusCode.unset });

/** The clocks of two processes may differ, and collectors reject a span that ends before it starts. */
const during = ({ startedAt, endedAt }: { startedAt: Date; endedAt: Date }) => ({
  startTimeUnixNano: nanoseconds(startedAt.getTime()),
  endTimeUnixNano: nanoseconds(Math.max(startedAt.getTime(), endedAt.getTime())),
});

const nanoseconds = (milliseconds: number) => (BigInt(milliseconds) * 1_000_000n).toString();

const hashed = (text: string, bytes: number) =>
  createHash('sha256').update(text).digest().subarray(0, bytes).toString('hex');

/** A message in the form of the conventions. */
const said = (role: 'user' | 'assistant', content: string, finishReason?: string) =>
  JSON.stringify([
    { role, parts: [{ type: 'text', content }], ...(finishReason !== undefined && { finish_reason: finishReason }) },
  ]);

/** Always a double, so that the attribute keeps its type if the cost is a whole number. */
const cost = (usd: number | null) => (usd === null ? undefined : { double: usd });

type Value = string | number | { double: number } | readonly string[] | null | undefined;

function attributes(values: Record<string, Value>) {
  return Object.entries(values).flatMap(([key, value]) => {
    if (value === null || value === undefined) return [];
    return [{ key, value: asValue(value) }];
  });
}

function asValue(value: NonNullable<Value>) {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'number') return { intValue: String(value) };
  if ('double' in value) return { doubleValue: value.double };
  return { arrayValue: { values: value.map((stringValue) => ({ stringValue })) } };
}
