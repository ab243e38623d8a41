import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import rootManifest from '../../../../package.json' with { type: 'json' };
import { createModels } from '../models.ts';
import { conversationRules } from './conversation-rules.ts';
import { publishedVersions } from './published/versions.ts';
import { refusalBySchema } from './published-schemas.ts';
import { startScriptedModelServer } from './scripted-server.ts';
import { refusalByRule, vendorRules } from './vendor-rules.ts';

const bedrock = '/model/claude/invoke-with-response-stream';
const vertex = '/v1/projects/p/locations/l/publishers/google/models/gemini-3:streamGenerateContent?alt=sse';
const vertexClaude = '/v1/projects/p/locations/l/publishers/anthropic/models/claude:streamRawPredict';
const gemini = '/v1beta/models/gemini-3:streamGenerateContent?alt=sse';

const claude = { max_tokens: 9, messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] };
const content = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] };
const chat = { model: 'm', stream: true, messages: [{ role: 'user', content: 'Hi' }] };
const responses = {
  model: 'm',
  stream: true,
  input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }],
};

describe("[MOD-760] test servers check each request against the vendor's published schema", () => {
  it.each<[string, string, object, object, string]>([
    [
      '/v1/messages',
      'an unknown field',
      { model: 'm', stream: true, ...claude },
      { model: 'm', stream: true, ...claude, stop: [] },
      'stop',
    ],
    [
      '/v1/messages',
      'an unknown field of a block',
      { model: 'm', stream: true, ...claude },
      {
        model: 'm',
        stream: true,
        ...claude,
        messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', mark: 1 }] }],
      },
      'mark',
    ],
    [
      '/v1/messages',
      'a tool whose schema has no type',
      { model: 'm', stream: true, ...claude, tools: [{ name: 'a', input_schema: { type: 'object' } }] },
      { model: 'm', stream: true, ...claude, tools: [{ name: 'a', input_schema: {} }] },
      'type',
    ],
    [
      bedrock,
      'a model in the body',
      { anthropic_version: 'bedrock-2023-05-31', ...claude },
      { anthropic_version: 'bedrock-2023-05-31', model: 'm', ...claude },
      'model',
    ],
    [
      vertexClaude,
      'no version',
      { anthropic_version: 'vertex-2023-10-16', stream: true, ...claude },
      { stream: true, ...claude },
      'anthropic_version',
    ],
    ['/v1/responses', 'an option of another format', responses, { ...responses, max_tokens: 5 }, 'max_tokens'],
    [
      '/v1/responses',
      'a part of another format',
      responses,
      { ...responses, input: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] },
      'input.0',
    ],
    [
      '/v1/chat/completions',
      'an option of another format',
      chat,
      { ...chat, max_output_tokens: 5 },
      'max_output_tokens',
    ],
    [
      '/v1/chat/completions',
      'a tool of another format',
      { ...chat, tools: [{ type: 'function', function: { name: 'a', parameters: {} } }] },
      { ...chat, tools: [{ type: 'function', name: 'a', parameters: {} }] },
      'tools.0',
    ],
    [gemini, 'an option outside of its object', content, { ...content, maxOutputTokens: 5 }, 'maxOutputTokens'],
    [
      gemini,
      'two kinds of content in one part',
      content,
      { contents: [{ parts: [{ text: 'a', inlineData: {} }] }] },
      'parts',
    ],
    [
      vertex,
      'a field of the Gemini API',
      content,
      { contents: [{ parts: [{ text: 'a', partMetadata: {} }] }] },
      'partMetadata',
    ],
    [
      gemini,
      'a value that no enum has',
      { ...content, toolConfig: { functionCallingConfig: { mode: 'ANY' } } },
      { ...content, toolConfig: { functionCallingConfig: { mode: 'required' } } },
      'mode',
    ],
  ])('%s: refuses %s', (path, _what, good, bad, named) => {
    expect(refusalBySchema(path, good as Record<string, unknown>)).toBeNull();
    expect(refusalBySchema(path, bad as Record<string, unknown>)?.schemaFault).toContain(named);
  });

  it('which was written from the version that the documentation names', () => {
    const page = readFileSync(join(import.meta.dirname, '../../../../docs/model-reference.md'), 'utf8');
    for (const [schema, { name, version }] of Object.entries(publishedVersions)) {
      const { $comment } = JSON.parse(
        readFileSync(join(import.meta.dirname, `published/${schema}.generated.json`), 'utf8'),
      );
      expect($comment).toBe(`Written by scripts/vendor-schemas.ts from ${name} ${version}.`);
      expect(page).toContain(`\`${name}\` ${version}`);
    }
    expect(publishedVersions['openai-responses'].version).toBe(rootManifest.devDependencies.openai);
  });

  it('and fail at their end if a request did not match, even if the client recovered', async () => {
    const server = await startScriptedModelServer({ respond: () => ({ text: 'Hi' }) });
    const post = (body: object) =>
      fetch(`${server.baseUrls.openai}/responses`, { method: 'POST', body: JSON.stringify(body) });
    expect((await post({ ...responses, bogus: 1 })).status).toBe(400);
    expect((await post(responses)).status).toBe(200);
    expect(server.takeRefusals()).toHaveLength(1);
    await expect(server.close()).rejects.toThrow('bogus');
    const other = await startScriptedModelServer({ respond: () => ({ text: 'Hi' }) });
    const signal = new AbortController().signal;
    const messages = [{ role: 'user' as const, parts: [{ kind: 'text' as const, text: 'Hi' }] }];
    const asked = { model: 'gpt-5', system: [], messages, tools: [], signal };
    for await (const _ of createModels(other.settings).model('gpt-5').stream(asked));
    await other.close();
  });
});

describe('[MOD-762] test servers refuse what vendors are known to refuse', () => {
  const use = (id: string) => ({ type: 'tool_use', id, name: 'a', input: {} });
  const anthropic = (...messages: object[]) => ({ messages });
  const said = (role: string, ...blocks: object[]) => ({ role, content: blocks });
  const text = (words: string) => ({ type: 'text', text: words });
  const mark = { ...text('a'), cache_control: { type: 'ephemeral' } };
  const turns = (...parts: object[][]) => ({ contents: parts.map((each) => ({ parts: each })) });
  const declared = (name: string, parametersJsonSchema: object) => ({
    tools: [{ functionDeclarations: [{ name, parametersJsonSchema }] }],
  });
  const user = { role: 'user', content: 'x' };
  const broken: Record<keyof typeof conversationRules, readonly [path: string, body: Record<string, unknown>]> = {
    anthropicCallIds: ['/v1/messages', anthropic(said('assistant', use('a.b')))],
    anthropicResultsFollowCalls: ['/v1/messages', anthropic(said('assistant', use('a')), said('user', text('x')))],
    anthropicTextsAreNotEmpty: [bedrock, anthropic(said('user', text(' ')))],
    anthropicMessagesAreNotEmpty: [vertexClaude, anthropic(said('user'))],
    anthropicAnswersEndInText: ['/v1/messages', anthropic(said('user', text('x')), said('assistant', text('x ')))],
    anthropicCacheMarks: ['/v1/messages', anthropic(said('user', mark, mark, mark, mark, mark))],
    anthropicToolNames: ['/v1/messages', { tools: [{ name: 'a.b' }] }],
    openaiCallIds: ['/v1/responses', { input: [{ type: 'function_call', call_id: 'x'.repeat(65) }] }],
    openaiCallsHaveOutputs: ['/v1/responses', { input: [{ type: 'function_call', call_id: 'a' }] }],
    chatCallsHaveOutputs: [
      '/v1/chat/completions',
      { messages: [user, { role: 'assistant', tool_calls: [{ id: 'a' }] }] },
    ],
    openaiToolNames: ['/v1/responses', { tools: [{ name: 'a b', parameters: { type: 'object', properties: {} } }] }],
    geminiToolNames: [gemini, declared('1a', {})],
    geminiArraysHaveItems: [vertex, declared('a', { properties: { a: { type: 'array' } } })],
    geminiResultsEqualCalls: [gemini, turns([{ text: 'x' }], [{ functionCall: {} }], [{ text: 'x' }])],
    mistralKnowsNoReasoningContent: [
      '/mistral/v1/chat/completions',
      { messages: [user, { role: 'assistant', content: 'x', reasoning_content: 'x' }, user] },
    ],
    mistralKnowsNoOtherOptions: ['/mistral/v1/chat/completions', { messages: [user], max_completion_tokens: 9 }],
    ollamaReadsDataUrlsOnly: [
      '/ollama/v1/chat/completions',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a.example/a.png' } }] }] },
    ],
    ollamaKnowsNoFiles: ['/ollama/v1/chat/completions', { messages: [{ role: 'user', content: [{ type: 'file' }] }] }],
  };

  it.each(Object.entries(broken))('%s', (rule, [path, body]) => {
    const { path: of, fault } = conversationRules[rule as keyof typeof conversationRules];
    expect([of.test(path.replace(/\?.*/, '')), fault(body)]).toEqual([true, expect.any(String)]);
    expect(refusalByRule(path, body)?.status).toBeGreaterThanOrEqual(400);
  });

  it('each with the address of a thread or page', () => {
    for (const { thread } of Object.values(vendorRules)) expect(thread).toMatch(/^https:\/\//);
  });
});
