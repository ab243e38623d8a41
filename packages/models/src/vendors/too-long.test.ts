import { runAgent } from '@vestra/agent/loop';
import { memoryStore, ok, portsWith, runWith, toolLog, tools } from '@vestra/agent/loop.fixture';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createModels } from '../models.ts';
import type { NormalisedRequest } from '../testing/scripted-answer.ts';
import { startScriptedModelServer } from '../testing/scripted-server.ts';
import { outcomeOf, sse, startRawEndpoint, writing } from './raw-endpoint.fixture.ts';

let endpoint: Awaited<ReturnType<typeof startRawEndpoint>>;
beforeAll(async () => {
  endpoint = await startRawEndpoint();
});
afterAll(() => endpoint.close());

type Said = [of: string, status: number, message: string, code?: string];

/** The words of servers, as they are quoted in public issues. */
const overflows: Said[] = [
  ['Anthropic', 400, 'prompt is too long: 213462 tokens > 200000 maximum'],
  [
    'Anthropic',
    400,
    'input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input length',
  ],
  ['Anthropic', 413, 'Request exceeds the maximum size', 'request_too_large'],
  ['Bedrock', 400, 'Input is too long for requested model.'],
  ['OpenAI', 400, 'Your input exceeds the context window of this model.', 'context_length_exceeded'],
  ['OpenAI', 400, 'Input tokens exceed the configured limit of 272000 tokens.'],
  ['OpenAI', 400, "Invalid 'input[0].content[0].text': string too long.", 'string_above_max_length'],
  ['Google', 400, 'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).'],
  ['Google', 400, 'Request payload size exceeds the limit: 20971520 bytes.'],
  ['vLLM', 400, "This model's maximum context length is 6048 tokens. However, you requested 6616 tokens"],
  ['vLLM 0.16', 400, "You passed 1015 input tokens. However, the model's context length is only 1024 tokens"],
  ['vLLM', 400, 'The decoder prompt (length 9000) is longer than the maximum model length of 8192.'],
  ['vLLM', 400, 'Input prompt (9000 tokens) is too long and exceeds limit of 8192'],
  ['llama.cpp', 400, 'the request exceeds the available context size, try increasing it', 'exceed_context_size_error'],
  ['llama.cpp', 500, 'the request exceeds the available context size. try increasing the context size'],
  ['Ollama', 400, 'the input length exceeds the context length'],
  ['LM Studio', 400, 'The number of tokens to keep from the initial prompt is greater than the context length.'],
  ['xAI', 400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens."],
  ['Groq', 400, 'Please reduce the length of the messages or completion.'],
  ['Mistral', 400, 'Prompt contains 40000 tokens, too large for model with 32768 maximum context length'],
  ['Moonshot', 400, 'Invalid request: Your request exceeded model token limit: 8192'],
  ['MiniMax', 400, 'invalid params, context window exceeds limit'],
  ['DashScope', 400, 'Range of input length should be [1, 30720]'],
  ['Z.ai', 400, 'Prompt exceeds max length'],
  ['Cohere', 400, 'too many tokens: total number of tokens in the prompt cannot exceed 4081'],
  ['TGI', 422, '`inputs` must have less than 4096 tokens. Given: 5000'],
  ['TGI', 422, 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096.'],
  ['SGLang', 400, "The input (40000 tokens) is longer than the model's context length (32768 tokens)."],
];

const others: Said[] = [
  ['a wrong field', 400, "Unknown parameter: 'messages[0].extra'."],
  [
    'a long name or description of a tool',
    400,
    "Invalid 'tools[0].function.description': string too long.",
    'string_above_max_length',
  ],
  ['the limit of an answer', 400, 'max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens'],
];

const errorOf = (message: string, code?: string) => ({ error: { message, type: code ?? 'invalid_request_error' } });

describe('a request that is too long for the model [MOD-735]', () => {
  it.each(overflows)('is recognised by the words of %s (%i, %s)', async (_of, status, message, code) => {
    for (const vendor of ['anthropic', 'compatible'] as const) {
      endpoint.respond((_request, response) => response.writeHead(status).end(JSON.stringify(errorOf(message, code))));
      expect((await outcomeOf(endpoint.stream(vendor))).failure).toBe('too_long');
      expect(endpoint.bodies).toHaveLength(1);
    }
    if (status === 413) return;
    endpoint.respond(writing([sse(errorOf(message, code))]));
    expect((await outcomeOf(endpoint.stream('compatible'))).failure).toBe('too_long');
  });

  it.each(others)('is not %s', async (_what, status, message, code) => {
    endpoint.respond((_request, response) => response.writeHead(status).end(JSON.stringify(errorOf(message, code))));
    expect((await outcomeOf(endpoint.stream('compatible'))).failure).toBe('refused');
  });

  it.each([
    ['anthropic', 'claude-sonnet-4-5', 'Input is too long for requested model.'],
    ['openai', 'gpt-5', 'Your input exceeds the context window of this model.'],
    ['google', 'gemini-2.5-flash', 'The input token count (11) exceeds the maximum number of tokens allowed (10).'],
    ['compatible', 'compatible/scripted', 'the request exceeds the available context size'],
  ])('is shortened, and the run continues (%s)', async (_vendor, id, failMessage) => {
    const isSummary = ({ tools: offered }: NormalisedRequest) => offered.length === 0;
    const isShort = ({ messages }: NormalisedRequest) => JSON.stringify(messages[0]).includes('In short');
    const server = await startScriptedModelServer({
      respond: (request) => {
        if (isSummary(request)) return { text: 'In short: five pages were read.' };
        if (request.messages.length > 9) return { fail: 400, failMessage };
        return isShort(request) ? { text: 'Done.' } : { calls: [{ name: 'look', arguments: {} }] };
      },
    });
    try {
      const memory = memoryStore();
      const ports = portsWith({
        model: createModels(server.settings).model(id),
        store: memory.store,
        tools: toolLog(() => ok('A page.')).runner,
      });
      const end = await runAgent(runWith({ model: id, tools: [tools.look] }), ports);
      expect(end).toMatchObject({ kind: 'answered', text: 'Done.' });
      expect(memory.steps().filter(({ kind }) => kind === 'summary')).toHaveLength(1);
    } finally {
      await server.close();
    }
  });
});
