import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveMcp, tool } from '../../packages/server/src/adapters/mcp-client/mcp-server.fixture.ts';
import {
  attributesOf,
  type Span,
  spansIn,
  startCollector,
} from '../../packages/server/src/adapters/otlp/collector.fixture.ts';
import { type AgentServer, startAgentServer } from '../support/agent.ts';
import { lastText, resultsIn } from '../support/cast.ts';

let server: AgentServer;
beforeAll(async () => {
  server = await startAgentServer();
});
afterAll(() => server.stop());

describe('what a collector hears', () => {
  it('is one trace of each turn and each task, with a span for every model call and every tool step, and no content [RSN-007, OTLP-001, OTLP-003, OTLP-004, OTLP-005, OTLP-006]', async () => {
    const collector = await startCollector();
    const shop = await serveMcp('2026', [tool('look', { annotations: { readOnlyHint: true } })], {
      call: async () => ({ content: [{ type: 'text', text: 'private-result' }] }),
    });
    await server.call('PATCH', '/v1/org', { body: { otlp_endpoint: collector.url } });
    await server.apply({
      name: 'desk',
      instructions: 'private-instructions',
      memory: 'none',
      tools: [{ mcp: shop.url, name: 'shop' }],
    });
    server.script((request) => {
      if (lastText(request).includes('stop')) return { fail: 'hang' };
      if (lastText(request).includes('order') && request.tools.some(({ name }) => name === 'hand_off_to_work')) {
        return { calls: [{ name: 'hand_off_to_work', arguments: { title: 'private-title', task: 'private-brief' } }] };
      }
      const thinking = 'private-thought';
      if (resultsIn(request).length === 2) return { thinking, text: 'private-reply' };
      const name = request.tools.find((each) => each.name.endsWith('look'))?.name as string;
      return { thinking, calls: [{ name, arguments: { token: `private-input-${resultsIn(request).length}` } }] };
    });

    const { body: conversation } = await server.call('POST', '/v1/conversations', { body: { user_id: 'ada' } });
    const path = `/v1/conversations/${conversation.id}`;
    const say = async (message: string): Promise<string> =>
      (await server.call('POST', `${path}/messages`, { body: { message } })).body.id;
    const idle = () => server.until(path, ({ status }) => status === 'idle');
    const replied = await say('private-question');
    await idle();
    const handedOver = await say('private-order');
    await idle();
    const asked = server.asked.length;
    const stopped = await say('private-stop');
    await expect.poll(() => server.asked.length).toBe(asked + 1);
    await server.call('POST', `${path}/stop`);
    const { body: tasks } = await server.call('GET', `/v1/tasks?conversation_id=${conversation.id}`);
    const taskId = tasks.data[0].id;

    await expect.poll(() => collector.traces().length, { timeout: 60_000 }).toBe(4);
    const spans = collector.received.flatMap(({ body }) => spansIn(body));
    const traces = new Map(
      [...Map.groupBy(spans, ({ traceId }) => traceId).values()].map((trace) => {
        const [root, ...inside] = rootFirst(trace);
        for (const { parentSpanId } of inside) expect(parentSpanId).toBe(root.spanId);
        const of = attributesOf(root);
        expect(of['gen_ai.conversation.id']).toBe(conversation.id);
        return [`${of['vestra.run.kind']} ${of['vestra.turn.id'] ?? of['vestra.task.id']}`, inside];
      }),
    );
    const steps = ['chat', 'execute_tool', 'chat', 'execute_tool', 'chat'];
    expect(new Map([...traces].map(([run, inside]) => [run, inside.map(operationOf)]))).toEqual(
      new Map([
        [`turn ${replied}`, steps],
        [`turn ${handedOver}`, ['chat', 'execute_tool']],
        [`task ${taskId}`, steps],
        [`turn ${stopped}`, []],
      ]),
    );
    for (const span of traces.get(`task ${taskId}`) ?? []) {
      const of = attributesOf(span);
      if (operationOf(span) === 'chat') {
        expect(of).toMatchObject({ 'gen_ai.request.model': 'compatible/scripted', 'gen_ai.usage.input_tokens': 10n });
      } else expect(of['gen_ai.tool.name']).toMatch(/look$/);
    }
    expect(JSON.stringify(collector.received)).not.toContain('private-');
  });
});

function rootFirst(trace: readonly Span[]): [Span, ...Span[]] {
  const roots = trace.filter(({ parentSpanId }) => parentSpanId === undefined);
  expect(roots).toHaveLength(1);
  const inside = trace.filter(({ parentSpanId }) => parentSpanId !== undefined);
  return [roots[0] as Span, ...inside];
}

const operationOf = (span: Span) => attributesOf(span)['gen_ai.operation.name'];
