import type { JsonSchema } from '@vestra/agent/message';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { outcomeOf, type RawVendor, sse, startRawEndpoint, writing } from '../raw-endpoint.fixture.ts';

let endpoint: Awaited<ReturnType<typeof startRawEndpoint>>;
beforeAll(async () => {
  endpoint = await startRawEndpoint();
});
afterAll(() => endpoint.close());

const answers = {
  openai: sse({ type: 'response.output_text.delta', delta: 'Hi' }, { type: 'response.completed', response: {} }),
  google: sse({ candidates: [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }] }),
  compatible: sse({ choices: [{ delta: { content: 'Hi' }, finish_reason: 'stop' }] }),
};

const ask = (vendor: RawVendor, request: Parameters<typeof endpoint.stream>[1]) =>
  outcomeOf(endpoint.stream(vendor, request));

describe('[MOD-703] strict mode', () => {
  const closed = (properties: Record<string, unknown>, more: object = {}) => ({
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
    ...more,
  });
  const place = closed({ city: { type: 'string' } });
  const nested = (levels: number): JsonSchema =>
    levels === 0 ? { type: 'string' } : closed({ a: nested(levels - 1) });

  it.each<[string, JsonSchema, boolean]>([
    ['a format that it does not know', closed({ url: { type: 'string', format: 'uri' } }), true],
    [
      'a reference with a description',
      closed({ to: { $ref: '#/$defs/place', description: 'Where.' } }, { $defs: { place } }),
      true,
    ],
    [
      'a reference inside allOf',
      closed({ to: { allOf: [{ $ref: '#/$defs/place' }], default: null } }, { $defs: { place } }),
      true,
    ],
    [
      'unique items',
      closed({ tags: { type: 'array', items: { type: 'string' }, uniqueItems: true, minItems: 1 } }),
      true,
    ],
    ['a constant without a type', closed({ kind: { const: 'a' }, level: { enum: [1, 2] } }), true],
    [
      'lengths, defaults and examples',
      closed({ a: { type: 'string', minLength: 1, default: 'x', examples: ['y'] } }),
      true,
    ],
    ['a dialect', closed({ a: { type: 'string' } }, { $schema: 'http://json-schema.org/draft-07/schema#' }), true],
    ['ten levels', nested(10), true],
    ['eleven levels', nested(11), false],
    ['a value of any type', closed({ a: {} }), false],
    ['a list of anything', closed({ a: { type: 'array' } }), false],
    ['many choices', closed({ a: { enum: Array.from({ length: 1_001 }, (_, at) => `v${at}`) } }), false],
    ['an optional property', { ...closed({ a: { type: 'string' } }), required: [] }, false],
    ['free keys inside', closed({ a: { type: 'object', additionalProperties: { type: 'string' } } }), false],
  ])('is used for what OpenAI can enforce: %s', async (_name, outputSchema, isStrict) => {
    endpoint.respond(writing([answers.openai]));
    expect(await ask('openai', { outputSchema })).toMatchObject({ text: 'Hi', failure: null });
    expect(endpoint.bodies).toMatchObject([{ text: { format: { strict: isStrict } } }]);
  });

  it('describes what it cannot enforce', async () => {
    endpoint.respond(writing([answers.openai]));
    await ask('openai', {
      outputSchema: closed({ url: { type: 'string', format: 'uri', minLength: 3, description: 'A page.' } }),
    });
    expect(endpoint.bodies[0]?.text).toMatchObject({
      format: {
        schema: { properties: { url: { type: 'string', description: 'A page.\nmin length: 3; format: uri.' } } },
      },
    });
  });

  it('is used at a compatible endpoint only for a schema that needs no change', async () => {
    for (const [outputSchema, strict] of [
      [closed({ a: { type: 'string' } }), true],
      [closed({ a: { type: 'string', minLength: 2 } }), false],
    ] as const) {
      endpoint.respond(writing([answers.compatible]));
      await ask('compatible', { outputSchema });
      expect(endpoint.bodies).toMatchObject([{ response_format: { json_schema: { strict, schema: outputSchema } } }]);
    }
  });

  it('has no part in the schemas for Gemini, which stay within its keywords', async () => {
    endpoint.respond(writing([answers.google]));
    const outputSchema = closed(
      {
        to: { $ref: '#/definitions/place', description: 'Where.' },
        kind: { const: 'a' },
        n: { type: 'number', exclusiveMinimum: 0 },
      },
      { definitions: { place } },
    );
    expect(await ask('google', { outputSchema })).toMatchObject({ text: 'Hi', failure: null });
    expect(endpoint.bodies).toMatchObject([
      {
        generationConfig: {
          responseJsonSchema: {
            properties: {
              to: { ...place, description: 'Where.' },
              kind: { enum: ['a'] },
              n: { type: 'number', description: 'exclusive minimum: 0.' },
            },
          },
        },
      },
    ]);
  });
});
