import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { called, sse, weather, writing } from './raw-endpoint.fixture.ts';
import { answers, type Body, startStrictEndpoint, user } from './strict-endpoint.fixture.ts';

let endpoint: Awaited<ReturnType<typeof startStrictEndpoint>>;
beforeAll(async () => {
  endpoint = await startStrictEndpoint();
});
afterAll(() => endpoint.close());

describe('[MOD-704] ids of calls on chat completions', () => {
  const answerOf = (id: string) =>
    sse({
      choices: [
        {
          delta: { tool_calls: [{ index: 0, id, function: { name: 'get_weather', arguments: '{}' } }] },
          finish_reason: 'tool_calls',
        },
      ],
    });
  const idsIn = ({ messages }: Body) =>
    (messages as Body[]).flatMap(({ tool_calls, tool_call_id }) => [
      ...((tool_calls as { id: string }[] | undefined)?.map(({ id }) => id) ?? []),
      ...(tool_call_id === undefined ? [] : [tool_call_id]),
    ]);

  async function secondRequest(wireId: string, runId: string, path: string) {
    const { ask } = endpoint.open('compatible', { path });
    endpoint.respond(writing([answerOf(wireId)]));
    const first = await ask({ tools: [weather] });
    const { reasoning = null } = first.end as { reasoning?: null };
    endpoint.respond(writing([answers.compatible]));
    const outcome = await ask({
      tools: [weather],
      messages: [
        user('Weather?'),
        // The run gives calls its own ids.
        { role: 'agent', text: '', calls: [called(runId, {}) as never], reasoning },
        { role: 'tool', results: [{ callId: runId, name: 'get_weather', output: 'Sun.', isError: false }] },
      ],
    });
    return { outcome, ids: idsIn(endpoint.bodies.at(-1) ?? {}) };
  }

  it.each(['D681PevKs', 'functions.get_weather:0', 'call_XyZ', 'chatcmpl-tool-8f2a'])(
    'are those that the model gave: %s',
    async (id) => {
      const path = id === 'D681PevKs' ? '/mistral/v1' : '/v1';
      const { outcome, ids } = await secondRequest(id, 'call_01m7n4ytgf9xd6866e22t23t', path);
      expect([outcome.failure, ids]).toEqual([null, [id, id]]);
    },
  );

  it('are nine letters and digits if the model gave none, or another model wrote the call', async () => {
    const { outcome, ids } = await secondRequest('', 'call_01m7n4ytgf9xd6866e22t23t', '/mistral/v1');
    expect(outcome.failure).toBeNull();
    expect(ids).toEqual([expect.stringMatching(/^[A-Za-z0-9]{9}$/), ids[0]]);
  });

  it('belong to their calls if these arrive out of order', async () => {
    const piece = (index: number, id: string) => ({ index, id, function: { name: `tool_${id}`, arguments: '{}' } });
    endpoint.respond(
      writing([
        sse({ choices: [{ delta: { tool_calls: [piece(1, 'b'), piece(0, 'a')] }, finish_reason: 'tool_calls' }] }),
      ]),
    );
    const { end, calls } = await endpoint.open('compatible').ask({ tools: [weather] });
    expect(calls).toMatchObject([{ name: 'tool_a' }, { name: 'tool_b' }]);
    expect(end).toMatchObject({
      reasoning: {
        parts: [
          { kind: 'call', id: 'a' },
          { kind: 'call', id: 'b' },
        ],
      },
    });
  });
});
