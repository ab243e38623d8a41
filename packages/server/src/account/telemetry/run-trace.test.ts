import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { version } from '../../platform/version.ts';
import { attributesOf, modelCall, runTrace, type Span, spansIn, tenant, toolStep } from './collector.fixture.ts';
import { exportRequest, type RunTrace } from './run-trace.ts';

const requestOf = (traces: readonly RunTrace[], of = tenant()) =>
  exportRequest(traces.map((trace) => ({ tenant: of, trace })));
const spansOf = (...traces: RunTrace[]) => spansIn(requestOf(traces)) as [Span, ...Span[]];

describe('an OTLP export', () => {
  it('names the org, the mode, the version and the process once for all traces of a tenant [OPS-741]', () => {
    const traces = [tenant('org_b', 'live'), tenant('org_c'), tenant('org_b', 'live')].map((of) => ({
      tenant: of,
      trace: runTrace(),
    }));
    const { resourceSpans } = exportRequest(traces);
    const service = {
      'service.name': 'vestra',
      'service.version': version,
      'service.instance.id': expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
    };
    expect(resourceSpans.map(({ resource }) => attributesOf(resource))).toEqual([
      { ...service, 'vestra.org.id': 'org_b', 'vestra.mode': 'live' },
      { ...service, 'vestra.org.id': 'org_c', 'vestra.mode': 'test' },
    ]);
    expect(resourceSpans.map(({ scopeSpans }) => scopeSpans[0]?.spans.length)).toEqual([2, 1]);
  });

  it('is valid OTLP in JSON for any run [OTLP-001]', () => {
    fc.assert(
      fc.property(fc.array(anyTrace, { maxLength: 5 }), (traces) => {
        const spans = spansIn(JSON.parse(JSON.stringify(requestOf(traces))));
        expect(spans.length).toBe(traces.reduce((sum, trace) => sum + 1 + trace.spans.length, 0));
        spans.forEach(assertOtlp);
      }),
    );
  });

  it('has times in nanoseconds, and no span ends before it starts', () => {
    const late = { startedAt: new Date(1_700_000_000_123), endedAt: new Date(1_700_000_000_100) };
    const [root, call] = spansOf(runTrace({ spans: [{ ...modelCall, ...late }] }));
    expect([root.startTimeUnixNano, root.endTimeUnixNano]).toEqual(['1772359200000000000', '1772359205250000000']);
    expect([call?.startTimeUnixNano, call?.endTimeUnixNano]).toEqual(['1700000000123000000', '1700000000123000000']);
  });
});

describe('trace and span ids', () => {
  it('make each run one trace, with all spans below the span of the run', () => {
    const spans = spansOf(
      runTrace({ id: 'turn_x', spans: [modelCall, toolStep, modelCall] }),
      runTrace({ kind: 'task', id: 'task_x', taskId: 'task_x', spans: [modelCall, toolStep] }),
    );
    const traces = Map.groupBy(spans, ({ traceId }) => traceId);
    expect([...traces.values()].map((each) => each.map(({ name }) => name))).toEqual([
      ['invoke_agent Desk', 'chat claude-sonnet-4-5', 'execute_tool search_orders', 'chat claude-sonnet-4-5'],
      ['invoke_agent Desk', 'chat claude-sonnet-4-5', 'execute_tool search_orders'],
    ]);
    for (const [root, ...inside] of traces.values()) {
      expect(root?.parentSpanId).toBeUndefined();
      expect(new Set(inside.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([root?.spanId]));
    }
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
  });

  it('are the same when a run is exported again, and different for another run', () => {
    const ids = (id: string) =>
      spansOf(runTrace({ id, spans: [toolStep] })).flatMap((span) => [span.traceId, span.spanId]);
    expect(ids('turn_x')).toEqual(ids('turn_x'));
    expect(ids('turn_y').filter((id) => ids('turn_x').includes(id))).toEqual([]);
  });
});

describe('the caller’s trace', () => {
  it('includes the run if the message named a span [OTLP-361]', () => {
    const parent = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
    const [root, call] = spansOf(runTrace({ parent, spans: [modelCall] }));
    expect([root.traceId, root.parentSpanId]).toEqual([parent.traceId, parent.spanId]);
    expect([call?.traceId, call?.parentSpanId]).toEqual([parent.traceId, root.spanId]);
  });
});

describe('the GenAI conventions', () => {
  it('name the run [OTLP-005]', () => {
    const [root] = spansOf(
      runTrace({ id: 'turn_x', taskId: 'task_y', spans: [modelCall, { ...modelCall, inputTokens: 1 }] }),
    );
    expect([root.name, root.kind, root.status]).toEqual(['invoke_agent Desk', 1, { code: 0 }]);
    expect(attributesOf(root)).toEqual({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.request.model': 'claude-sonnet-4-5',
      'gen_ai.agent.id': 'dep_1',
      'gen_ai.agent.name': 'Desk',
      'gen_ai.agent.version': '3',
      'gen_ai.conversation.id': 'conv_1',
      'gen_ai.usage.input_tokens': 2001n,
      'gen_ai.usage.output_tokens': 40n,
      'gen_ai.usage.cache_read.input_tokens': 1800n,
      'gen_ai.usage.cache_creation.input_tokens': 100n,
      'gen_ai.usage.cost': 0.0125,
      'user.id': 'ada',
      'vestra.run.kind': 'turn',
      'vestra.turn.id': 'turn_x',
      'vestra.task.id': 'task_y',
    });
  });

  it('name a run without a model, a deployment or a conversation [OTLP-005]', () => {
    const [root] = spansOf(
      runTrace({
        kind: 'task',
        taskId: 'task_y',
        conversationId: null,
        deployment: null,
        userId: null,
        costUsd: 0,
        errorCode: 'max_steps',
      }),
    );
    expect(root.status).toEqual({ code: 2 });
    expect(attributesOf(root)).toEqual({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': 'vestra',
      'gen_ai.usage.cost': 0,
      'vestra.run.kind': 'task',
      'vestra.task.id': 'task_y',
      'error.type': 'max_steps',
    });
  });

  it('name a model call [OTLP-005]', () => {
    const [, call] = spansOf(runTrace({ spans: [{ ...modelCall, errorCode: 'rate_limited' }] }));
    expect([call?.name, call?.kind, call?.status]).toEqual(['chat claude-sonnet-4-5', 3, { code: 2 }]);
    expect(attributesOf(call as Span)).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.request.model': 'claude-sonnet-4-5',
      'gen_ai.conversation.id': 'conv_1',
      'gen_ai.usage.input_tokens': 1050n,
      'gen_ai.usage.output_tokens': 20n,
      'gen_ai.usage.cache_read.input_tokens': 900n,
      'gen_ai.usage.cache_creation.input_tokens': 50n,
      'gen_ai.response.model': 'claude-sonnet-4-5',
      'gen_ai.response.finish_reasons': ['tool_call'],
      'gen_ai.usage.cost': 0.0025,
      'error.type': 'rate_limited',
    });
  });

  it.each([
    ['google', 'gcp.gemini', 3],
    ['openai', 'openai', 3],
    ['compatible', 'compatible', 3],
    ['offline', 'offline', 1],
  ])('name the provider %s as %s [OTLP-005]', (provider, name, kind) => {
    const [, call] = spansOf(runTrace({ spans: [{ ...modelCall, provider }] }));
    expect([attributesOf(call as Span)['gen_ai.provider.name'], call?.kind]).toEqual([name, kind]);
  });

  it('name a tool step [OTLP-005]', () => {
    const [, own, remote] = spansOf(
      runTrace({
        spans: [toolStep, { ...toolStep, name: 'mcp__crm__find', server: 'crm', callId: 'call_2', isError: true }],
      }),
    );
    expect([own?.name, own?.kind, own?.status]).toEqual(['execute_tool search_orders', 1, { code: 0 }]);
    expect(attributesOf(own as Span)).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'search_orders',
      'gen_ai.tool.call.id': 'call_1',
      'gen_ai.conversation.id': 'conv_1',
    });
    expect(remote?.status).toEqual({ code: 2 });
    expect(attributesOf(remote as Span)).toMatchObject({
      'gen_ai.tool.name': 'mcp__crm__find',
      'gen_ai.tool.type': 'extension',
      'vestra.mcp_server.slug': 'crm',
      'error.type': 'tool_error',
    });
  });
});

describe('message content', () => {
  it('never leaks through a tool name or an error code [OTLP-006]', () => {
    const said = 'My card is 4111 1111 1111 1111';
    const spans = spansOf(
      runTrace({
        errorCode: said,
        spans: [
          { ...toolStep, name: said },
          { ...modelCall, errorCode: said },
        ],
      }),
    );
    expect(JSON.stringify(spans)).not.toContain('4111');
    expect(spans.map(({ name }) => name)).toEqual([
      'invoke_agent Desk',
      'execute_tool unknown',
      'chat claude-sonnet-4-5',
    ]);
    expect(spans.map((span) => attributesOf(span)['error.type'])).toEqual(['_OTHER', undefined, '_OTHER']);
  });
});

const anyMoment = fc.date({ min: new Date(0), max: new Date('2200-01-01'), noInvalidDate: true });
const anyCount = fc.nat(10_000_000);
const anyText = fc.oneof(fc.string(), fc.constantFrom('a', '\u0000', '\ud800', '✓'));
const anyCode = fc.option(anyText, { nil: null });
const anySpan = fc.oneof(
  fc.record({
    kind: fc.constant('model' as const),
    model: anyText,
    provider: anyText,
    startedAt: anyMoment,
    endedAt: anyMoment,
    inputTokens: anyCount,
    outputTokens: anyCount,
    cacheReadTokens: anyCount,
    cacheWriteTokens: anyCount,
    costUsd: fc.double({ min: 0, max: 1000, noNaN: true }),
    finishReason: fc.constantFrom('stop' as const, 'tool_call' as const, 'length' as const, 'error' as const),
    content: fc.option(fc.record({ output: anyText }), { nil: null }),
    errorCode: anyCode,
  }),
  fc.record({
    kind: fc.constant('tool' as const),
    name: anyText,
    server: anyCode,
    callId: anyText,
    startedAt: anyMoment,
    endedAt: anyMoment,
    isError: fc.boolean(),
    content: fc.option(fc.record({ arguments: anyText, result: anyText }), { nil: null }),
  }),
);
const anyTrace: fc.Arbitrary<RunTrace> = fc.record({
  kind: fc.constantFrom('turn' as const, 'task' as const),
  id: anyText,
  conversationId: anyCode,
  taskId: anyCode,
  deployment: fc.option(fc.record({ id: anyText, version: anyCount, name: anyCode }), { nil: null }),
  startedAt: anyMoment,
  endedAt: anyMoment,
  userId: anyCode,
  costUsd: fc.option(fc.double({ min: 0, max: 1000, noNaN: true }), { nil: null }),
  parent: fc.constantFrom(null, { traceId: 'ab'.repeat(16), spanId: 'cd'.repeat(8) }),
  content: fc.option(fc.record({ input: anyText, output: anyCode }), { nil: null }),
  errorCode: anyCode,
  missingServers: fc.array(anyText, { maxLength: 3 }),
  spans: fc.array(anySpan, { maxLength: 5 }),
});

function assertOtlp(span: Span): void {
  expect(span.traceId).toMatch(/^(?!0+$)[0-9a-f]{32}$/);
  for (const id of [span.spanId, span.parentSpanId ?? span.spanId]) expect(id).toMatch(/^(?!0+$)[0-9a-f]{16}$/);
  for (const time of [span.startTimeUnixNano, span.endTimeUnixNano]) expect(time).toMatch(/^(0|[1-9]\d{0,19})$/);
  expect(BigInt(span.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(span.startTimeUnixNano));
  expect([1, 2, 3, 4, 5]).toContain(span.kind);
  expect([0, 1, 2]).toContain(span.status.code);
  expect(new Set(span.attributes.map(({ key }) => key)).size).toBe(span.attributes.length);
  for (const { key, value } of span.attributes) {
    expect(key).toMatch(/^[a-z][a-z_]*(\.[a-z_]+)+$/);
    expect(Object.keys(value)).toHaveLength(1);
    const [form, held] = Object.entries(value)[0] ?? [];
    if (form === 'intValue') expect(held).toMatch(/^\d+$/);
    else if (form === 'doubleValue') expect(typeof held).toBe('number');
    else if (form === 'arrayValue') expect(value.arrayValue?.values.length).toBeGreaterThan(0);
    else expect(typeof value.stringValue).toBe('string');
  }
}
