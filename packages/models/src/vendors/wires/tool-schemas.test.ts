import type { JsonSchema, ToolDefinition } from '@vestra/agent/message';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { called, outcomeOf, type RawVendor, sse, startRawEndpoint, weather, writing } from '../raw-endpoint.fixture.ts';
import { hardSchemas } from './hard-schemas.fixture.ts';
import { reduceSchema } from './reduce-schema.ts';
import { schemaRules } from './schema-rules.ts';
import { renamed } from './tool-schema.ts';

let endpoint: Awaited<ReturnType<typeof startRawEndpoint>>;
beforeAll(async () => {
  endpoint = await startRawEndpoint();
});
afterAll(() => endpoint.close());

const vendors = ['anthropic', 'openai', 'google', 'compatible'] as const;
const answers: Record<RawVendor, (args?: object) => string> = {
  anthropic: (args) =>
    sse(
      { type: 'message_start', message: { usage: { input_tokens: 1 } } },
      args
        ? {
            type: 'content_block_start',
            index: 0,
            content_block: { type: 'tool_use', id: 'a', name: 'get_weather', input: args },
          }
        : { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ),
  openai: () => sse({ type: 'response.output_text.delta', delta: 'Hi' }, { type: 'response.completed', response: {} }),
  google: () => sse({ candidates: [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }] }),
  compatible: () => sse({ choices: [{ delta: { content: 'Hi' }, finish_reason: 'stop' }] }),
};

async function ask(vendor: RawVendor, request: Parameters<typeof endpoint.stream>[1], args?: object) {
  endpoint.respond(writing([answers[vendor](args)]));
  const outcome = await outcomeOf(endpoint.stream(vendor, request));
  return { outcome, bodies: [...endpoint.bodies] };
}

type SentTool = { description: string; schema: Record<string, unknown> };
function sentTools(vendor: RawVendor, body: Record<string, unknown> | undefined): SentTool[] {
  type Listed = Record<string, Record<string, unknown>> & { description: string };
  const list = body?.tools as Listed[];
  const tools = vendor === 'google' ? (list[0]?.functionDeclarations as unknown as Listed[]) : list;
  return tools.map((tool) => {
    const each = (tool.function ?? tool) as unknown as Record<string, unknown>;
    const schema = each.input_schema ?? each.parameters ?? each.parametersJsonSchema;
    return { description: String(each.description), schema: schema as Record<string, unknown> };
  });
}

describe('[MOD-700] schemas of tools that vendors reject', () => {
  const cases = vendors.flatMap((vendor) => Object.keys(hardSchemas).map((name) => [vendor, name] as const));

  it.each(cases)('reach %s in an accepted form: %s', async (vendor, name) => {
    const tool = { ...weather, inputSchema: hardSchemas[name]?.schema as JsonSchema };
    const { outcome, bodies } = await ask(vendor, { tools: [weather, tool] });
    expect([outcome.failure, outcome.warnings, bodies.length]).toEqual([null, [], 1]);
    expect(sentTools(vendor, bodies[0])[1]?.schema).toMatchObject({ type: 'object', properties: {} });
  });

  it.each(Object.keys(schemaRules).flatMap((rules) => Object.keys(hardSchemas).map((name) => [rules, name] as const)))(
    'still accept every valid argument in the form for %s: %s',
    (rules, name) => {
      const { schema, valid } = hardSchemas[name] as (typeof hardSchemas)[string];
      const reduced = reduceSchema(schema, schemaRules[rules as keyof typeof schemaRules]);
      const toWire = new Map([...(reduced.keys ?? [])].map(([wire, key]) => [key, wire]));
      const accepts = new Ajv2020({ strict: false, formats: { uri: true } }).compile(reduced.schema);
      for (const given of valid) expect([accepts(renamed(given, toWire)), accepts.errors]).toEqual([true, null]);
    },
  );

  it('require of alternatives only what all of them require, and name the choice', () => {
    const { schema } = reduceSchema(
      hardSchemas['a root with anyOf beside its type']?.schema as JsonSchema,
      schemaRules.anthropic,
    );
    expect(schema).toEqual({
      type: 'object',
      description: 'Give one of: `id`; `url`.',
      properties: { id: { type: 'string' }, deep: { type: 'boolean' }, url: { type: 'string', format: 'uri' } },
    });
    const union = reduceSchema(
      hardSchemas['a discriminated union as the root']?.schema as JsonSchema,
      schemaRules.openai,
    );
    expect(union.schema).toMatchObject({
      properties: { kind: { enum: ['a', 'b'] }, size: { anyOf: [{ type: 'number' }, { type: 'string' }] } },
      required: ['kind'],
    });
  });

  it('are accepted whatever they hold', async () => {
    const name = fc.constantFrom('a', 'b[c]', '$d', 'type');
    const reference = fc.constantFrom('#/$defs/a', '#/$defs/b', '#', '#/properties/a', '#/nowhere');
    const { node } = fc.letrec<{ node: JsonSchema }>((tie) => ({
      node: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.record({
          type: fc.constantFrom('string', 'integer', 'array', 'object', 'any'),
          format: fc.constantFrom('uri', 'date'),
        }),
        fc.record({ $ref: reference, description: fc.constant('x') }, { requiredKeys: ['$ref'] }),
        fc.record(
          {
            type: fc.constantFrom('object', ['object', 'null']),
            properties: fc.dictionary(name, tie('node'), { maxKeys: 3 }),
            required: fc.array(name, { maxLength: 2 }),
            additionalProperties: fc.oneof(fc.boolean(), tie('node')),
            patternProperties: fc.dictionary(fc.constant('^x'), tie('node'), { maxKeys: 1 }),
          },
          { requiredKeys: [] },
        ),
        fc.record(
          {
            type: fc.constant('array'),
            items: fc.oneof(tie('node'), fc.array(tie('node'), { maxLength: 2 }), fc.boolean()),
            prefixItems: fc.array(tie('node'), { maxLength: 2 }),
            uniqueItems: fc.boolean(),
          },
          { requiredKeys: ['type'] },
        ),
        ...(['anyOf', 'oneOf', 'allOf'] as const).map((keyword) =>
          fc.record({ [keyword]: fc.array(tie('node'), { minLength: 1, maxLength: 3 }), title: fc.constant('t') }),
        ),
        fc.record({ const: fc.constantFrom(1, 'a', null) }),
      ) as fc.Arbitrary<JsonSchema>,
    }));
    const tool = fc
      .tuple(node, node, node)
      .map(([root, a, b]): ToolDefinition => ({ ...weather, inputSchema: { ...root, $defs: { a, b } } }));
    await fc.assert(
      fc.asyncProperty(tool, fc.constantFrom(...vendors), async (each, vendor) => {
        const { outcome, bodies } = await ask(vendor, { tools: [each] });
        expect([outcome.failure, bodies.length]).toEqual([null, 1]);
      }),
      { numRuns: 300 },
    );
  });

  it('that would take 300 KB are sent open, with a note', async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 6_000 }, (_, at) => [`property_${at}`, { type: 'string', title: 'x'.repeat(20) }]),
    );
    const large = { ...weather, inputSchema: { type: 'object', properties } };
    for (const vendor of vendors) {
      const { outcome, bodies } = await ask(vendor, { tools: [large] });
      expect(outcome.failure).toBeNull();
      expect(sentTools(vendor, bodies[0])).toEqual([
        {
          description: expect.stringContaining('too large to be described'),
          schema: { type: 'object', properties: {} },
        },
      ]);
    }
  });

  it('that are thousands of levels deep are sent open', async () => {
    const definitions = Array.from({ length: 1_900 }, (_, at) => [`d${at}`, { items: { $ref: `#/$defs/d${at + 1}` } }]);
    const chain = { type: 'object', properties: { a: { $ref: '#/$defs/d0' } }, $defs: Object.fromEntries(definitions) };
    let inner: JsonSchema = { type: 'string' };
    for (let level = 0; level < 3_000; level++) inner = { items: inner };
    const deep = { type: 'object', properties: { a: inner }, required: ['a'], additionalProperties: false };
    for (const vendor of vendors) {
      for (const schema of [chain, deep]) {
        expect((await ask(vendor, { tools: [{ ...weather, inputSchema: schema }] })).outcome.failure).toBeNull();
      }
    }
    expect((await ask('openai', { outputSchema: deep })).outcome.failure).toBeNull();
  });

  it('end in time if their definitions multiply', () => {
    const levels = Array.from({ length: 12 }, (_, at) => [
      `level${at}`,
      {
        description: 'x',
        anyOf: Array.from({ length: 12 }, () => ({ $ref: `#/$defs/level${at + 1}`, description: 'y' })),
      },
    ]);
    const schema = { $ref: '#/$defs/level0', $defs: { ...Object.fromEntries(levels), level12: { type: 'object' } } };
    for (const rules of Object.values(schemaRules))
      expect(reduceSchema(schema, rules).schema).toMatchObject({ type: 'object' });
  });
});

describe('[MOD-701] properties that a vendor renames', () => {
  const { schema } = hardSchemas['names of OData and of JSON:API'] as { schema: JsonSchema };
  const tool = { ...weather, inputSchema: schema };
  const given = { $top: 5, 'filter[name]': 'x', body: { '@odata.type': 'y' }, rest: { $top: 'free' } };

  it('have their true names in the calls of the model', async () => {
    await ask('anthropic', { tools: [tool] });
    const names = Object.keys(sentTools('anthropic', endpoint.bodies[0])[0]?.schema.properties as object);
    const [top, filter] = [
      names.find((name) => name.startsWith('top_')),
      names.find((name) => name.startsWith('filter_name')),
    ];
    const [, inner] = JSON.stringify(endpoint.bodies[0]).match(/"(odata_type_\w+)":\{/) ?? [];
    const wire = { [top ?? '']: 5, [filter ?? '']: 'x', body: { [inner ?? '']: 'y' }, rest: { $top: 'free' } };
    const { outcome } = await ask('anthropic', { tools: [tool] }, wire);
    expect(outcome.calls).toEqual([called('a', given)]);
  });

  it('have the names of the request in the history', async () => {
    const { bodies } = await ask('anthropic', {
      tools: [tool],
      messages: [
        { role: 'user', parts: [{ kind: 'text', text: 'Go' }] },
        { role: 'agent', text: '', calls: [called('c', { $top: 5 }) as never] },
        { role: 'tool', results: [{ callId: 'c', name: 'get_weather', output: 'x', isError: false }] },
      ],
    });
    expect(JSON.stringify(bodies[0]?.messages)).toMatch(/"input":\{"top_[0-9a-f]{8}":5\}/);
  });

  it('have their true names in a structured answer', async () => {
    const outputSchema = { ...schema, additionalProperties: { type: 'string' } };
    endpoint.respond((request, response) => {
      const [key] = Object.keys(sentTools('anthropic', endpoint.bodies[0])[0]?.schema.properties as object);
      const block = { type: 'tool_use', id: 'a', name: 'json', input: { [key ?? '']: 7 } };
      writing([
        sse(
          { type: 'content_block_start', index: 0, content_block: block },
          { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: {} },
          { type: 'message_stop' },
        ),
      ])(request, response);
    });
    const outcome = await outcomeOf(endpoint.stream('anthropic', { outputSchema }));
    expect(JSON.parse(outcome.text)).toEqual({ $top: 7 });
  });
});

describe('[MOD-702] the description of a tool', () => {
  const long = `${'é'.repeat(500)}${'😀'.repeat(600)}`;

  it.each([
    ['anthropic', 1_100],
    ['google', 1_100],
    ['compatible', 1_100],
    ['openai', 1_024],
  ] as const)('reaches %s with at most as many characters as it accepts: %i', async (vendor, length) => {
    const { outcome, bodies } = await ask(vendor, { tools: [{ ...weather, description: long }] });
    const [sent] = sentTools(vendor, bodies[0]);
    expect([outcome.failure, [...(sent?.description ?? '')].length]).toEqual([null, length]);
    if (vendor === 'openai') expect(sent?.description).toMatch(/😀 … \(cut\)$/u);
  });

  it('of exactly the limit is not cut', async () => {
    const { bodies } = await ask('openai', { tools: [{ ...weather, description: '😀'.repeat(1_024) }] });
    expect(sentTools('openai', bodies[0])[0]?.description).toBe('😀'.repeat(1_024));
  });
});
