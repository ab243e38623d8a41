import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askingFirst, serveMcp, tool } from '../../packages/server/src/adapters/mcp-client/mcp-server.fixture.ts';
import { startTill, type Till } from './money.fixture.ts';

let till: Till;
beforeAll(async () => {
  till = await startTill();
});
afterAll(() => till.stop());

const sixCents = { inputTokens: 20_000, outputTokens: 10_000 };

/** Applies a desk whose server has one tool at this price. It runs unasked where its price lets it. */
async function offerAt(name: string, priceUsd: number): Promise<string[]> {
  const called: string[] = [];
  const offered = [
    tool('appraise', {
      description: 'Tells what a thing is worth.',
      annotations: { readOnlyHint: true },
      _meta: { 'vestra/price_usd': priceUsd },
    }),
  ];
  const { url } = await serveMcp('2026', offered, {
    call: (tried) => {
      called.push(tried);
      return { content: [{ type: 'text', text: 'Worth much.' }] };
    },
  });
  await till.apply({
    name,
    instructions: 'Be kind.',
    memory: 'none',
    limits: { ask_above_usd: 0.1 },
    tools: [{ mcp: url, name }],
  });
  till.script(({ messages }) =>
    messages.at(-1)?.role === 'tool'
      ? { text: 'It is worth much.', usage: sixCents }
      : { calls: [{ name: `mcp__${name}__appraise`, arguments: {} }], usage: sixCents },
  );
  return called;
}

describe('a tool whose server asks the person', () => {
  it('waits for the answer as an interaction, goes on with it, and is charged once [MCPS-360]', async () => {
    const offered = [
      tool('insure', {
        description: 'Insures a thing.',
        annotations: { readOnlyHint: true },
        _meta: { 'vestra/price_usd': 0.05 },
      }),
    ];
    const properties = { years: { type: 'integer' as const, title: 'Years' } };
    const question = { message: 'For how long?', requestedSchema: { type: 'object' as const, properties } };
    const heard: unknown[] = [];
    const { url } = await serveMcp('2026', offered, {
      call: (_name, _args, { mcpReq }) => {
        heard.push(mcpReq.inputResponses ?? null);
        return mcpReq.inputResponses
          ? { content: [{ type: 'text', text: 'Insured.' }] }
          : askingFirst({ inputRequests: { term: askingFirst.elicit(question) }, requestState: 'secret-state' });
      },
    });
    await till.apply({
      name: 'insurer',
      instructions: 'Be kind.',
      memory: 'none',
      tools: [{ mcp: url, name: 'insurer' }],
    });
    till.script(({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? { text: `It said: ${JSON.stringify(messages.at(-1))}`, usage: sixCents }
        : { calls: [{ name: 'mcp__insurer__insure', arguments: {} }], usage: sixCents },
    );
    const { body: made } = await till.say({ deployment: 'insurer', message: 'Insure it.' });
    const path = `/v1/conversations/${made.id}`;
    await till.until(path, ({ status }) => status === 'waiting');
    const { body, text } = await till.call('GET', `/v1/interactions?conversation_id=${made.id}`);
    expect(body.data).toMatchObject([
      {
        type: 'question',
        kind: 'ask_question',
        status: 'pending',
        questions: [{ question: 'For how long?\n\nYears (may be left empty)', header: 'insurer' }],
        details: { server: 'insurer', tool_name: 'insure', asked_by: 'server', mode: 'form' },
      },
    ]);
    expect(text).not.toContain('secret-state');
    await till.call('POST', `/v1/interactions/${body.data[0].id}/answer`, { body: { answers: ['3'] } });
    const shown = await till.until(path, ({ status }) => status === 'idle');
    expect(heard).toEqual([null, { term: { action: 'accept', content: { years: 3 } } }]);
    expect(shown.cost_breakdown.tools).toBe(0.05);
    expect((await till.settled(made)).reply.text).toContain('Insured.');
  });
});

describe('a paid tool', () => {
  it('at the limit runs at once [DFILE-041]', async () => {
    const called = await offerAt('cheap', 0.1);
    const { body: made } = await till.say({ deployment: 'cheap', message: 'What is it worth?' });
    expect((await till.settled(made)).reply.text).toBe('It is worth much.');
    const { body: conversation } = await till.call('GET', `/v1/conversations/${made.id}`);
    expect([called, conversation.cost_breakdown.tools, conversation.cost_usd]).toEqual([['appraise'], 0.1, 0.22]);
  });

  it('above it asks first [DFILE-041]', async () => {
    const called = await offerAt('dear', 0.11);
    const { body: made } = await till.say({ deployment: 'dear', message: 'What is it worth?' });
    const path = `/v1/conversations/${made.id}`;
    const waiting = await till.until(path, ({ status }) => status === 'waiting');
    expect([waiting.open_interactions[0].kind, called]).toEqual(['credit_approval', []]);
    const answer = { approve: true, present_user: true };
    await till.call('POST', `/v1/interactions/${waiting.open_interactions[0].interaction_id}/answer`, { body: answer });
    await till.until(path, ({ status }) => status === 'idle');
    expect(called).toEqual(['appraise']);
  });

  it('is neither run nor charged once a cap is spent [MON-004]', async () => {
    const called = await offerAt('capped', 0.05);
    await till.call('POST', '/v1/users', { body: { user_id: 'poor' } });
    await till.call('PATCH', '/v1/users/poor', { body: { spend_cap_usd: 0.05 } });
    const { body: made } = await till.say({ deployment: 'capped', user_id: 'poor', message: 'What is it worth?' });
    const turn = await till.settled(made);
    expect([turn.status, turn.error.code, turn.cost_usd, called]).toEqual(['stopped', 'max_budget', 0.06, []]);
  });
});
