import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freeKeys, outcomeOf, startRawEndpoint, weather, writing } from '../raw-endpoint.fixture.ts';

let endpoint: Awaited<ReturnType<typeof startRawEndpoint>>;
beforeAll(async () => {
  endpoint = await startRawEndpoint();
});
afterAll(() => endpoint.close());

const tools = [weather];

describe('a schema that the vendor cannot enforce [MOD-156]', () => {
  const tree = {
    type: 'object',
    properties: { children: { type: 'array', items: { $ref: '#' } } },
    required: ['children'],
  };
  const optional = { type: 'object', properties: Object.fromEntries([...'abcdefghijk'].map((name) => [name, {}])) };
  const flat = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
  const twice = { ...flat, properties: { a: { $ref: '#/$defs/b' }, c: { $ref: '#/$defs/b' } }, $defs: { b: flat } };

  it.each([
    ['anthropic', 'free keys', freeKeys, [], true],
    ['anthropic', 'any object', { type: 'object' }, [], true],
    ['anthropic', 'itself inside', tree, [], true],
    ['anthropic', 'eleven optional properties', optional, [], true],
    ['anthropic', 'nothing special, beside tools', flat, tools, false],
    ['anthropic', 'one definition used twice', twice, [], false],
    ['google', 'nothing special, beside tools', flat, tools, true],
    ['google', 'free keys, without tools', freeKeys, [], false],
    ['openai', 'free keys, beside tools', freeKeys, tools, false],
  ] as const)('%s, %s: with or without a tool', async (vendor, _what, outputSchema, tools, isByTool) => {
    endpoint.respond(writing(['']));
    const taken = { ...weather, name: 'json' };
    await outcomeOf(
      endpoint.stream(
        vendor,
        { outputSchema, tools: [...tools, ...(tools.length > 0 ? [taken] : [])] },
        { attempts: 1 },
      ),
    );
    const body = JSON.stringify(endpoint.bodies[0]);
    const answerTool = tools.length > 0 ? '"json_"' : '"json"';
    expect([body.includes(answerTool), /"any"|"ANY"/.test(body)]).toEqual([isByTool, isByTool]);
    expect(/"output_config"|"responseJsonSchema"|"json_schema"/.test(body)).toBe(!isByTool);
  });
});

it('sends Anthropic the supported keywords and describes the rest to the model', async () => {
  endpoint.respond(writing(['']));
  const outputSchema = {
    type: 'object',
    properties: {
      mail: { type: 'string', format: 'email', minLength: 3 },
      code: { type: 'string', description: 'Of the country.', pattern: '^[A-Z]{2}$', format: 'iso' },
      either: { oneOf: [{ type: 'null' }, { $ref: '#/$defs/n', title: 'dropped' }] },
    },
    required: ['mail', 'code', 'either'],
    $defs: { n: { type: 'integer', minimum: 1 } },
  };
  await outcomeOf(endpoint.stream('anthropic', { outputSchema }, { attempts: 1 }));
  expect(endpoint.bodies[0]?.output_config).toEqual({
    format: {
      type: 'json_schema',
      schema: {
        type: 'object',
        additionalProperties: false,
        properties: {
          mail: { type: 'string', format: 'email', description: 'min length: 3.' },
          code: { type: 'string', description: 'Of the country.\npattern: ^[A-Z]{2}$; format: iso.' },
          either: { anyOf: [{ type: 'null' }, { $ref: '#/$defs/n' }] },
        },
        required: ['mail', 'code', 'either'],
        $defs: { n: { type: 'integer', description: 'minimum: 1.' } },
      },
    },
  });
});

it('removes unsupported keywords from tools for OpenAI and from schemas for Gemini', async () => {
  endpoint.respond(writing(['']));
  const inputSchema = {
    type: 'object',
    propertyNames: { pattern: '^x' },
    properties: {
      pattern: { type: 'string', pattern: '^(?!a)' },
      kept: { type: 'string', pattern: '[(?=]' },
      referred: { allOf: [{ $ref: '#/$defs/a' }] },
    },
    $defs: { a: { const: 1 } },
  };
  await outcomeOf(endpoint.stream('openai', { tools: [{ ...weather, inputSchema }] }, { attempts: 1 }));
  expect(endpoint.bodies[0]?.tools).toMatchObject([
    {
      strict: false,
      parameters: {
        type: 'object',
        properties: {
          pattern: { type: 'string', description: 'pattern: ^(?!a).' },
          kept: { pattern: '[(?=]' },
          referred: { $ref: '#/$defs/a' },
        },
        $defs: { a: { const: 1 } },
      },
    },
  ]);
  expect(JSON.stringify(endpoint.bodies[0])).not.toMatch(/propertyNames|"pattern":"\^|allOf/);
  await outcomeOf(endpoint.stream('google', { outputSchema: inputSchema }, { attempts: 1 }));
  expect(endpoint.bodies[1]).toMatchObject({
    generationConfig: { responseJsonSchema: { $defs: { a: { enum: [1] } } } },
  });
});
