import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  askingFirst,
  type Called,
  serveMcp,
  tool,
} from '../../packages/server/src/agents/mcp-client/mcp-server.fixture.ts';
import { slowTool } from '../../packages/server/src/agents/mcp-client/server-task.fixture.ts';
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
  it('waits for the answer as an interaction, resumes with it, and is charged once [MCPS-360]', async () => {
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

describe('a tool whose server asks the model', () => {
  const gist = {
    messages: [{ role: 'user' as const, content: { type: 'text' as const, text: 'Sum it up: a long letter.' } }],
    systemPrompt: 'You sum up.',
    maxTokens: 100_000,
  };
  const asking = {
    '2026': (({ mcpReq }) =>
      mcpReq.inputResponses
        ? { content: [{ type: 'text', text: `heard ${JSON.stringify(mcpReq.inputResponses)}` }] }
        : askingFirst({ inputRequests: { gist: { method: 'sampling/createMessage', params: gist } } })) as Asking,
    '2025 with sessions': (async ({ mcpReq }) => {
      const ask = () =>
        mcpReq.send({ method: 'sampling/createMessage', params: gist }).catch(({ message }: Error) => message);
      return { content: [{ type: 'text', text: `heard ${JSON.stringify([await ask(), await ask()])}` }] };
    }) as Asking,
  };
  type Asking = (context: Parameters<Called>[2]) => ReturnType<Called>;

  async function scribe(name: string, generation: keyof typeof asking, { sampling }: { sampling: boolean }) {
    const offered = [tool('sum_up', { annotations: { readOnlyHint: true } })];
    const { url } = await serveMcp(generation, offered, {
      call: (_name, _args, context) => asking[generation](context),
    });
    await till.apply({ name, instructions: 'private-instructions', memory: 'none', tools: [{ mcp: url, name }] });
    const { body: servers } = await till.call('GET', '/v1/mcp-servers');
    const { id } = servers.data.find(({ slug }: { slug: string }) => slug === name);
    if (sampling) await till.call('PATCH', `/v1/mcp-servers/${id}`, { body: { sampling } });
    const sampled: string[] = [];
    till.script((request) => {
      const { messages } = request;
      if (!JSON.stringify(messages).includes('private-question')) {
        sampled.push(JSON.stringify(request));
        return { text: 'Short.', usage: sixCents };
      }
      return messages.at(-1)?.role === 'tool'
        ? { text: `It said: ${JSON.stringify(messages.at(-1))}`, usage: sixCents }
        : { calls: [{ name: `mcp__${name}__sum_up`, arguments: {} }], usage: sixCents };
    });
    return sampled;
  }

  it.each(['2026', '2025 with sessions'] as const)(
    'gets the answer of the deployment’s model, which reads nothing but its question, at the user’s cost (%s) [MCPS-443]',
    async (generation) => {
      const name = generation === '2026' ? 'scribe' : 'old-scribe';
      const sampled = await scribe(name, generation, { sampling: true });
      const { body: made } = await till.say({ deployment: name, user_id: `ada-${name}`, message: 'private-question' });
      const { reply } = await till.settled(made);
      expect(reply.text).toContain('Short.');
      expect(sampled).toHaveLength(generation === '2026' ? 1 : 2);
      for (const request of sampled) {
        expect(request).toContain('Sum it up: a long letter.');
        expect(request).not.toContain('private-');
      }
      const { body: conversation } = await till.call('GET', `/v1/conversations/${made.id}`);
      expect(conversation.cost_usd).toBe(generation === '2026' ? 0.18 : 0.24);
      await till.folded();
      const { body: report } = await till.call('GET', '/v1/usage?group_by=user&limit=100');
      const [hers] = report.data.filter(({ key }: { key: string }) => key === `ada-${name}`);
      expect(hers.cost_usd).toBe(conversation.cost_usd);
    },
  );

  it('gets the reason once the user’s cap is spent [MCPS-443]', async () => {
    const sampled = await scribe('capped-scribe', '2025 with sessions', { sampling: true });
    await till.call('POST', '/v1/users', { body: { user_id: 'frugal' } });
    await till.call('PATCH', '/v1/users/frugal', { body: { spend_cap_usd: 0.1 } });
    const { body: made } = await till.say({
      deployment: 'capped-scribe',
      user_id: 'frugal',
      message: 'private-question',
    });
    const turn = await till.settled(made);
    expect([turn.status, turn.error.code, turn.cost_usd, sampled.length]).toEqual(['stopped', 'max_budget', 0.12, 1]);
    const { body: trace } = await till.call('GET', `/v1/conversations/${made.id}/turns/${turn.id}/trace`);
    expect(JSON.stringify(trace)).toContain('The model is not asked');
  });

  it.each(['2026', '2025 with sessions'] as const)(
    'is refused if the settings of its server do not allow it (%s) [MCPS-443]',
    async (generation) => {
      const name = generation === '2026' ? 'closed-scribe' : 'old-closed-scribe';
      const sampled = await scribe(name, generation, { sampling: false });
      const { body: made } = await till.say({ deployment: name, message: 'private-question' });
      expect((await till.settled(made)).reply.text).toMatch(/sampling/);
      expect(sampled).toEqual([]);
    },
  );
});

describe('a tool that its server continues', () => {
  it('is cancelled there when the person stops the turn, and not charged [MCPS-442]', async () => {
    const slow = slowTool({ status: 'working' });
    const offered = [tool('print', { annotations: { readOnlyHint: true }, _meta: { 'vestra/price_usd': 0.05 } })];
    const { url } = await serveMcp('2026', offered, slow.parts);
    await till.apply({ name: 'press', memory: 'none', tools: [{ mcp: url, name: 'press' }] });
    till.script(() => ({ calls: [{ name: 'mcp__press__print', arguments: {} }], usage: sixCents }));
    const { body: made } = await till.say({ deployment: 'press', message: 'Print it.' });
    await expect.poll(() => slow.heard.polls, { timeout: 30_000 }).toBeGreaterThan(0);
    await till.call('POST', `/v1/conversations/${made.id}/stop`);
    await expect.poll(() => slow.heard.cancelled, { timeout: 30_000 }).toBe(1);
    expect([slow.heard.calls, (await till.settled(made)).cost_usd]).toEqual([1, 0.06]);
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
