import { createHash } from 'node:crypto';
import type { Tenant } from '../../caller.ts';
import type { ModelCallSpan, RunTrace, ToolStepSpan } from './run-trace.ts';

/**
 * The body of an export in OTLP's JSON form: ids in hex, 64-bit numbers as decimal strings, enums as numbers. The names
 * of spans and attributes are those of the GenAI semantic conventions; what these have no word for begins with `vestra.`.
 */
export function exportRequest({ orgId, mode }: Tenant, traces: readonly RunTrace[]) {
  return {
    resourceSpans: [
      {
        resource: {
          attributes: attributes({ 'service.name': 'vestra', 'vestra.org.id': orgId, 'vestra.mode': mode }),
        },
        scopeSpans: [{ scope: { name: 'vestra' }, spans: traces.flatMap(spansOf) }],
      },
    ],
  };
}

const spanKind = { internal: 1, client: 3 };
const statusCode = { unset: 0, error: 2 };

function spansOf(trace: RunTrace) {
  const traceId = hashed(`trace ${trace.id}`, 16);
  const rootId = hashed(`span ${trace.id}`, 8);
  const inside = trace.spans.map((span, at) => ({
    traceId,
    spanId: hashed(`span ${trace.id} ${at}`, 8),
    parentSpanId: rootId,
    ...(span.kind === 'model' ? modelCall(span, trace) : toolStep(span, trace)),
  }));
  return [{ traceId, spanId: rootId, ...run(trace) }, ...inside];
}

function run(trace: RunTrace) {
  const calls = trace.spans.filter((span) => span.kind === 'model');
  const models = new Set(calls.map(({ model }) => model));
  return {
    name: 'invoke_agent',
    kind: spanKind.internal,
    ...during(trace),
    attributes: attributes({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': calls[0] ? providerName(calls[0].provider) : 'vestra',
      'gen_ai.request.model': models.size === 1 ? [...models][0] : undefined,
      'gen_ai.agent.id': trace.deployment?.id,
      'gen_ai.agent.version': trace.deployment?.version.toString(),
      'gen_ai.conversation.id': trace.conversationId,
      ...(calls.length > 0 && usage(sumOf(calls))),
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
    // The stand-in runs in this process.
    kind: span.provider === 'offline' ? spanKind.internal : spanKind.client,
    ...during(span),
    attributes: attributes({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': providerName(span.provider),
      'gen_ai.request.model': span.model,
      'gen_ai.conversation.id': conversationId,
      ...usage(span),
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

/** As the conventions of OpenTelemetry name them. */
const providerNames: Readonly<Record<string, string>> = {
  google: 'gcp.gemini',
  vertex: 'gcp.vertex_ai',
  bedrock: 'aws.bedrock',
  azure: 'azure.ai.openai',
};
const providerName = (provider: string) => providerNames[provider] ?? provider;

/** A model may call a tool that does not exist, and put whatever it likes into the name. */
const toolName = (name: string) => (/^[\w.:/-]{1,128}$/.test(name) ? name : 'unknown');

/** Only a code is sent; `_OTHER` is the conventions' word for an error that has none. */
function errorType(code: string | null): string | undefined {
  if (code === null) return undefined;
  return /^[a-z][a-z0-9_]{0,63}$/.test(code) ? code : '_OTHER';
}

const statusOf = (isError: boolean) => ({ code: isError ? statusCode.error : statusCode.unset });

/** Of two processes that ran one span the clocks may differ; a span that ends before it starts is refused. */
const during = ({ startedAt, endedAt }: { startedAt: Date; endedAt: Date }) => ({
  startTimeUnixNano: nanoseconds(startedAt.getTime()),
  endTimeUnixNano: nanoseconds(Math.max(startedAt.getTime(), endedAt.getTime())),
});

const nanoseconds = (milliseconds: number) => (BigInt(milliseconds) * 1_000_000n).toString();

const hashed = (text: string, bytes: number) =>
  createHash('sha256').update(text).digest().subarray(0, bytes).toString('hex');

function attributes(values: Record<string, string | number | null | undefined>) {
  return Object.entries(values).flatMap(([key, value]) => {
    if (value === null || value === undefined) return [];
    return [{ key, value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value } }];
  });
}
