import type { Message } from '@vestra/agent/message';
import type { ModelRequest } from '@vestra/agent/model';
import { createModels } from '../models.ts';
import { models as ids, outcomeOf, type RawVendor, sse, startRawEndpoint, writing } from './raw-endpoint.fixture.ts';

export type Body = Record<string, unknown>;

export const answers: Record<RawVendor, string> = {
  anthropic: sse(
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: {} },
    { type: 'message_stop' },
  ),
  openai: sse({ type: 'response.output_text.delta', delta: 'Hi' }, { type: 'response.completed', response: {} }),
  google: sse({ candidates: [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }] }),
  compatible: sse({ choices: [{ delta: { content: 'Hi' }, finish_reason: 'stop' }] }),
};

export const user = (text: string): Message => ({ role: 'user', parts: [{ kind: 'text', text }] });

/** A test server that refuses what a test says, and models of it that keep what they learn. */
export async function startStrictEndpoint() {
  const endpoint = await startRawEndpoint();

  /** One model over several requests, at an address of the test server. */
  function open(vendor: RawVendor, { path = '/v1', model = 'any' } = {}) {
    const base = { apiKey: () => 'sk-x', baseUrl: `${endpoint.url}${path}` };
    const log: string[] = [];
    const models = createModels(
      {
        ...{ anthropic: base, openai: base, google: base, own: [], defaultModel: null },
        compatible: { ...base, models: [model], price: null, maxOutputTokens: null },
      },
      { firstPauseMs: 1, longestPauseMs: 2 },
      { onAdjusted: (id, { sentence }) => log.push(`${id}: ${sentence}`) },
    );
    const id = vendor === 'compatible' ? `compatible/${model}` : ids[vendor];
    const ask = (request: Partial<ModelRequest> = {}) =>
      outcomeOf(
        models.model(id).stream({
          model: id,
          system: [],
          messages: [user('Hi')],
          tools: [],
          signal: new AbortController().signal,
          ...request,
        }),
      );
    const adjustments = () => models.adjustments(id).map(({ sentence }) => sentence);
    return { ask, log, adjustments, models, id };
  }

  /** Refuses a body for which `refuse` returns an error, and else answers. */
  function refusing(vendor: RawVendor, refuse: (body: Body) => object | null, status = 400) {
    endpoint.respond((request, response) => {
      const error = refuse(endpoint.bodies.at(-1) ?? {});
      if (error) response.writeHead(status).end(JSON.stringify(error));
      else void writing([answers[vendor]])(request, response);
    });
  }

  return { ...endpoint, open, refusing };
}
