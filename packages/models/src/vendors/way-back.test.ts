import type { JsonSchema } from '@vestra/agent/message';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdjustCase, adjustCases } from './adjust-cases.fixture.ts';
import { adjustedAfter, mostAdjustments, noAdjustments } from './adjustments.ts';
import { type RawVendor, weather, writing } from './raw-endpoint.fixture.ts';
import { fieldNamedIn } from './spare-fields.ts';
import { answers, type Body, startStrictEndpoint } from './strict-endpoint.fixture.ts';
import { fieldsRejectedAt } from './vendor.ts';
import { anthropicWire } from './wires/anthropic.ts';
import { createCompatibleWire } from './wires/compatible.ts';
import { openaiWire } from './wires/openai.ts';

let endpoint: Awaited<ReturnType<typeof startStrictEndpoint>>;
beforeAll(async () => {
  endpoint = await startStrictEndpoint();
});
afterAll(() => endpoint.close());

describe('[MOD-705] a rejected field', () => {
  it('is left out at Mistral from then on, logged once and shown', async () => {
    endpoint.respond(writing([answers.compatible]));
    const { ask, log, adjustments } = endpoint.open('compatible', { path: '/mistral/v1' });
    expect(adjustments()).toEqual([]);
    for (let turn = 0; turn < 3; turn++) expect(await ask()).toMatchObject({ text: 'Hi', failure: null });
    expect(endpoint.bodies.map(({ stream_options }) => stream_options !== undefined)).toEqual([
      true,
      false,
      false,
      false,
    ]);
    const sentence = '`stream_options` is not sent: the compatible endpoint rejected it.';
    expect([log, adjustments()]).toEqual([[`compatible/any: ${sentence}`], [sentence]]);
  });

  it('has its newer name for a reasoning model of OpenAI', async () => {
    endpoint.respond(writing([answers.compatible]));
    const { ask } = endpoint.open('compatible', { model: 'gpt-5-gateway' });
    for (let turn = 0; turn < 2; turn++) expect(await ask()).toMatchObject({ text: 'Hi', failure: null });
    const limits = endpoint.bodies.map(({ max_tokens, max_completion_tokens }) => [max_tokens, max_completion_tokens]);
    expect(limits).toEqual([
      [8_192, undefined],
      [undefined, 8_192],
      [undefined, 8_192],
    ]);
  });

  it('is not forgotten by a vendor that rejects two', async () => {
    endpoint.refusing('compatible', (body) => {
      const named = ['stream_options', 'max_tokens', 'max_completion_tokens'].find((field) => field in body);
      return named ? { error: { message: `Unknown parameter: '${named}'.`, param: named } } : null;
    });
    const { ask, log } = endpoint.open('compatible');
    for (let turn = 0; turn < 2; turn++) expect(await ask()).toMatchObject({ text: 'Hi', failure: null });
    expect([endpoint.bodies.length, log.length]).toEqual([5, 3]);
  });

  it.each([
    ['https://api.mistral.ai/v1', ['stream_options']],
    ['https://api.openai.com/v1', ['max_tokens']],
    ['https://house.openai.azure.com/openai/v1', ['max_tokens']],
    ['https://mistral.ai.example/v1', []],
    ['http://127.0.0.1:11434/v1', []],
  ])('is not even tried at an endpoint that is known: %s', (baseUrl, fields) => {
    expect(fieldsRejectedAt(baseUrl)).toEqual(fields);
  });

  it('stays if it protects the data of users', async () => {
    endpoint.refusing('openai', () => ({ error: { message: "Unknown parameter: 'store'.", param: 'store' } }));
    expect(await endpoint.open('openai').ask()).toMatchObject({ failure: 'refused' });
    expect(endpoint.bodies).toHaveLength(1);
  });

  it('is the longest answer: the limit of the vendor is used', async () => {
    endpoint.refusing('anthropic', ({ max_tokens }) =>
      Number(max_tokens) > 8_192
        ? {
            type: 'error',
            error: {
              type: 'invalid_request_error',
              message: `max_tokens: ${max_tokens} > 8192, which is the maximum allowed number of output tokens for x`,
            },
          }
        : null,
    );
    const { ask, adjustments } = endpoint.open('anthropic');
    for (let turn = 0; turn < 2; turn++) expect(await ask()).toMatchObject({ text: 'Hi', failure: null });
    expect(endpoint.bodies.map(({ max_tokens }) => max_tokens)).toEqual([expect.any(Number), 8_192, 8_192]);
    expect(adjustments()).toEqual(['Answers are limited to 8192 tokens, as Anthropic requires.']);
  });
});

describe('[MOD-707] what another process learnt', () => {
  const keys = ['field:stream_options', 'field:max_tokens', 'description:512', 'level:high', 'of_a_later_release'];
  const wordy = { tools: [{ ...weather, description: 'x'.repeat(900) }], reasoning: 'high' as const };

  it.each(['before', 'after'])('is used if it is restored %s the first request, and forgotten later', async (when) => {
    endpoint.respond(writing([answers.compatible]));
    const { ask, log, adjustments, models, id } = endpoint.open('compatible');
    const of = (rules: readonly string[]) => new Map([[models.endpointOf(id) as string, rules]]);
    if (when === 'after') await ask(wordy);
    models.restoreAdjustments(of(keys));
    await ask(wordy);
    const last = endpoint.bodies.at(-1) as { tools: { function: { description: string } }[] } & Body;
    expect([last.stream_options, last.max_tokens, last.reasoning_effort]).toEqual([undefined, undefined, undefined]);
    expect([last.max_completion_tokens, last.tools[0]?.function.description.length]).toEqual([8_192, 512]);
    expect(adjustments()).toEqual([
      '`stream_options` is not sent: the compatible endpoint rejected it.',
      '`max_completion_tokens` is sent instead of `max_tokens`, which the compatible endpoint rejected.',
      'Descriptions of tools are cut to 512 characters, as the compatible endpoint requires.',
      '`reasoning: high` is not sent: the compatible endpoint rejected it for this model.',
    ]);
    models.restoreAdjustments(new Map());
    await ask(wordy);
    expect(endpoint.bodies.at(-1)).toMatchObject({ stream_options: {}, max_tokens: 8_192, reasoning_effort: 'high' });
    expect([adjustments(), log]).toEqual([[], []]);
  });

  it('is logged once, although several requests learn it at once and later ones learn more', async () => {
    const rejected = ['stream_options'];
    endpoint.refusing('compatible', (body) => {
      const named = rejected.find((field) => field in body);
      return named ? { error: { message: `Unknown parameter: '${named}'.`, param: named } } : null;
    });
    const { ask, log, adjustments } = endpoint.open('compatible');
    const sentences = [
      '`stream_options` is not sent: the compatible endpoint rejected it.',
      '`max_completion_tokens` is sent instead of `max_tokens`, which the compatible endpoint rejected.',
    ];
    for (const known of [1, 2]) {
      for (const { text } of await Promise.all([ask(), ask(), ask()])) expect(text).toBe('Hi');
      expect(adjustments()).toEqual(sentences.slice(0, known));
      expect(log).toEqual(sentences.slice(0, known).map((sentence) => `compatible/any: ${sentence}`));
      rejected.push('max_tokens');
    }
  });

  it('is not used at another address or for another model', () => {
    const at = (path: string, model: string) => {
      const { models, id } = endpoint.open('compatible', { path, model });
      return models.endpointOf(id);
    };
    const all = [at('/v1', 'any'), at('/v2', 'any'), at('/v1', 'other')];
    expect([new Set(all).size, at('/v1', 'any') === all[0]]).toEqual([3, true]);
    expect(endpoint.open('compatible').models.endpointOf('offline')).toBeNull();
  });

  it('is a rejected level of reasoning, too: it is logged once and shown', async () => {
    const message = 'Unable to submit request because thinking_budget is out of range';
    const budgetOf = (body: Body) => Number(/"thinkingBudget":(\d+)/.exec(JSON.stringify(body))?.[1]) || null;
    endpoint.refusing('google', (body) => (budgetOf(body) === 2_048 ? { error: { message } } : null));
    const { ask, log, adjustments, id } = endpoint.open('google');
    for (const reasoning of ['low', 'low', 'high'] as const)
      expect(await ask({ reasoning })).toMatchObject({ text: 'Hi' });
    // The other levels are still sent.
    expect(endpoint.bodies.map(budgetOf)).toEqual([2_048, null, null, 24_576]);
    const sentence = '`reasoning: low` is not sent: Google rejected it for this model.';
    expect([log, adjustments()]).toEqual([[`${id}: ${sentence}`], [sentence]]);
  });

  it.each([
    ['openai', 'off', "Unsupported value: 'none' is not supported with the 'gpt-5' model. (reasoning.effort)"],
    ['anthropic', 'off', '"thinking.type.disabled" is not supported for this model.'],
    ['compatible', 'low', '`reasoning_effort` is not supported with this model'],
  ] as const)('keeps the other levels at %s', async (vendor, rejected, message) => {
    const isSent = (body: Body) => /"effort"|"disabled"|reasoning_effort|budget_tokens/.test(JSON.stringify(body));
    let isRejected = true;
    endpoint.refusing(vendor, (body) => (isRejected && isSent(body) ? { error: { message } } : null));
    const { ask } = endpoint.open(vendor);
    expect(await ask({ reasoning: rejected })).toMatchObject({ text: 'Hi' });
    isRejected = false;
    expect(await ask({ reasoning: 'high' })).toMatchObject({ text: 'Hi' });
    expect(endpoint.bodies.map(isSent)).toEqual([true, false, true]);
  });
});

describe('[MOD-706] a rejected tool', () => {
  const tool = (name: string, inputSchema: JsonSchema = weather.inputSchema) => ({ ...weather, name, inputSchema });
  const tools = [
    tool('first'),
    tool('second', { type: 'object', properties: { day: { type: 'string', format: 'date' } } }),
  ];
  const namesIn = ({ tools: sent = [] }: Body): string[] =>
    (sent as Body[]).flatMap(({ functionDeclarations, function: of, name }) =>
      functionDeclarations
        ? (functionDeclarations as { name: string }[]).map((each) => each.name)
        : String((of as Body)?.name ?? name),
    );

  const wordsOf: Record<RawVendor, (at: number, name: string) => object> = {
    anthropic: (at) => ({
      type: 'error',
      error: { type: 'invalid_request_error', message: `tools.${at}.custom.input_schema: not today` },
    }),
    openai: (at, name) => ({
      error: {
        message: `Invalid schema for function '${name}': not today`,
        type: 'invalid_request_error',
        param: `tools[${at}].parameters`,
        code: 'invalid_function_parameters',
      },
    }),
    google: (at) => ({
      error: {
        code: 400,
        message: `* GenerateContentRequest.tools[0].function_declarations[${at}].parameters: not today`,
        status: 'INVALID_ARGUMENT',
      },
    }),
    compatible: (_at, name) => ({ detail: `Invalid schema for function '${name}': not today` }),
  };

  it.each(['anthropic', 'openai', 'google', 'compatible'] as const)(
    'is left out at %s with a warning, and the answer comes',
    async (vendor) => {
      endpoint.refusing(vendor, (body) => {
        const at = namesIn(body).indexOf('second');
        return at === -1 ? null : wordsOf[vendor](at, 'second');
      });
      const { ask, log, adjustments } = endpoint.open(vendor);
      for (let turn = 0; turn < 2; turn++) {
        expect(await ask({ tools })).toMatchObject({ text: 'Hi', failure: null, warnings: ['second'] });
      }
      // As it is, with a simpler schema, and without it; then without it at once.
      expect(endpoint.bodies.map(namesIn)).toEqual([['first', 'second'], ['first', 'second'], ['first'], ['first']]);
      expect(log).toEqual([expect.stringMatching(/The tool `second` is left out: .+ rejected it\.$/)]);
      // Other orgs use the same model, so the name of the tool is not shown.
      expect(adjustments()).toEqual([expect.stringMatching(/^Some tools are left out: /)]);
    },
  );

  it('is offered again once its schema has changed', async () => {
    endpoint.refusing('anthropic', (body) =>
      JSON.stringify(body).includes('forbidden') ? wordsOf.anthropic(0, '') : null,
    );
    const { ask } = endpoint.open('anthropic');
    const bad = tool('odd', { type: 'object', properties: { forbidden: { type: 'string' } } });
    expect(await ask({ tools: [bad] })).toMatchObject({ text: 'Hi', warnings: ['odd'] });
    expect(await ask({ tools: [tool('odd')] })).toMatchObject({ text: 'Hi', warnings: [] });
  });

  it('is sent with a simpler schema if that is enough', async () => {
    endpoint.refusing('anthropic', (body) =>
      JSON.stringify(body.tools).includes('"format"') ? wordsOf.anthropic(1, '') : null,
    );
    const { ask, adjustments } = endpoint.open('anthropic');
    for (let turn = 0; turn < 2; turn++) expect(await ask({ tools })).toMatchObject({ text: 'Hi', warnings: [] });
    expect(endpoint.bodies).toHaveLength(3);
    expect(JSON.stringify(endpoint.bodies[1]?.tools)).toContain('format: date.');
    expect(adjustments()).toEqual(['Some tools are sent with simpler schemas: Anthropic rejected theirs.']);
  });

  it('among many is found, and the number of requests is bounded', async () => {
    const many = Array.from({ length: 40 }, (_, at) => tool(`tool_${at}`));
    endpoint.refusing('openai', (body) => {
      const at = namesIn(body).findIndex((name) => /^tool_\d*[05]$/.test(name));
      return at === -1 ? null : wordsOf.openai(at, namesIn(body)[at] ?? '');
    });
    const { ask } = endpoint.open('openai');
    expect(await ask({ tools: many })).toMatchObject({ text: 'Hi', failure: null });
    expect(endpoint.bodies.length).toBeLessThanOrEqual(mostAdjustments + 1);
    endpoint.refusing('openai', (body) =>
      namesIn(body).length === 0 ? null : wordsOf.openai(0, namesIn(body)[0] ?? ''),
    );
    expect(await endpoint.open('openai').ask({ tools: many })).toMatchObject({ failure: 'refused' });
    expect(endpoint.bodies).toHaveLength(mostAdjustments + 1);
  });

  it('has a shorter description if the vendor names a limit', async () => {
    endpoint.refusing('compatible', (body) =>
      JSON.stringify(body.tools).length > 900
        ? {
            error: {
              message:
                "Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 512, but got a string with length 900 instead.",
              param: 'tools[0].function.description',
              code: 'string_above_max_length',
            },
          }
        : null,
    );
    const { ask, adjustments } = endpoint.open('compatible');
    expect(await ask({ tools: [{ ...weather, description: 'x'.repeat(900) }] })).toMatchObject({
      text: 'Hi',
      warnings: [],
    });
    expect(adjustments()).toEqual([
      'Descriptions of tools are cut to 512 characters, as the compatible endpoint requires.',
    ]);
  });
});

describe('[MOD-703] a rejected answer schema', () => {
  const outputSchema = {
    type: 'object',
    properties: { a: { type: 'string' } },
    required: ['a'],
    additionalProperties: false,
  };
  const formOf = (body: Body) => {
    const text = JSON.stringify([body.text, body.response_format, body.output_config, body.generationConfig]);
    if (text.includes('"strict":true')) return 'strict';
    if (/"json_schema"|responseJsonSchema/.test(text)) return 'schema';
    return /json_object|application\/json/.test(text) ? 'json' : 'words';
  };

  it.each([
    ['openai', ['strict', 'schema', 'json']],
    ['compatible', ['strict', 'schema', 'json']],
    ['google', ['schema', 'json']],
    ['anthropic', ['schema', 'words']],
  ] as const)('is sent to %s in the next form until it is accepted', async (vendor, forms) => {
    endpoint.refusing(vendor, (body) => {
      const message = "Invalid schema for response_format 'answer': not today";
      return ['strict', 'schema'].includes(formOf(body)) ? { error: { message, type: 'invalid_request_error' } } : null;
    });
    const { ask, adjustments } = endpoint.open(vendor);
    expect(await ask({ outputSchema })).toMatchObject({ text: 'Hi', failure: null });
    expect(endpoint.bodies.map(formOf)).toEqual(forms);
    expect(JSON.stringify(endpoint.bodies.at(-1))).toContain('Answer with one JSON value');
    // The next request starts with the accepted form.
    expect(await ask({ outputSchema: { ...outputSchema } })).toMatchObject({ text: 'Hi', failure: null });
    expect(endpoint.bodies.map(formOf)).toEqual([...forms, forms.at(-1)]);
    expect(adjustments()).toHaveLength(1);
  });

  it('is described in words if the vendor rejects JSON mode too', async () => {
    endpoint.refusing('compatible', (body) =>
      body.response_format ? { error: { message: 'response_format is not supported' } } : null,
    );
    expect(await endpoint.open('compatible').ask({ outputSchema })).toMatchObject({ text: 'Hi', failure: null });
    expect(endpoint.bodies.map(formOf)).toEqual(['strict', 'json', 'words']);
  });

  it('of any shape is sent as JSON mode to an endpoint that knows no schemas', async () => {
    endpoint.refusing('compatible', (body) =>
      ['strict', 'schema'].includes(formOf(body))
        ? { error: { message: 'This response_format type is unavailable now', type: 'invalid_request_error' } }
        : null,
    );
    const { ask } = endpoint.open('compatible');
    await ask({ outputSchema });
    await ask({ outputSchema: { type: 'object', properties: { other: { type: 'number' } } } });
    expect(endpoint.bodies.map(formOf)).toEqual(['strict', 'json', 'json']);
  });

  it('is not forced upon a model that rejects forced tools', async () => {
    endpoint.refusing('anthropic', ({ tool_choice }) =>
      tool_choice
        ? { type: 'error', error: { message: 'Thinking may not be enabled when tool_choice forces tool use.' } }
        : null,
    );
    const open_ = { type: 'object', additionalProperties: { type: 'string' } };
    expect(await endpoint.open('anthropic').ask({ outputSchema: open_ })).toMatchObject({ text: 'Hi', failure: null });
    expect(endpoint.bodies).toHaveLength(2);
    expect(JSON.stringify(endpoint.bodies[1])).toContain('calling the tool `json`');
  });
});

describe('[MOD-705] the adjustment after a rejection', () => {
  it.each(adjustCases)(
    'is found in the words of vendors: $name',
    ({ words, param = '', vendor = 'compatible', sent, expected }: AdjustCase) => {
      const fault = {
        reason: 'refused',
        message: '',
        isPassing: false,
        retryAfterMs: null,
        status: 400,
        refusal: { words, param },
      } as const;
      const found = adjustedAfter(fault, { name: vendor, wire: createCompatibleWire() }, sent, noAdjustments);
      expect(found).toEqual(expected === null ? null : { ...noAdjustments, ...expected });
    },
  );

  const claude = { model: 'x', thinking: {}, anthropic_beta: [], messages: [{ content: [{ title: 'a.pdf' }] }] };

  it.each([
    ['thinking', 'thinking.block_binding: Extra inputs are not permitted'],
    ['anthropic_beta', 'invalid beta flag'],
    ['title', 'messages.0.content.0.document.title: Extra inputs are not permitted'],
    [null, 'messages.0.content.0.text: text content blocks must be non-empty'],
    [null, 'tools.0.custom.input_schema.properties.title.type: not today'],
  ])('names the field %s of a request to Claude: %s', (field, words) => {
    expect(fieldNamedIn({ words, param: '' }, claude, anthropicWire.spare)).toBe(field);
  });

  it.each([
    ['strict', "Unknown parameter: 'tools[0].strict'.", 'tools[0].strict'],
    ['include', "Unsupported value: 'include[0]'", 'include'],
    [
      null,
      "Invalid schema for function 'x': In context=('properties', 'day'), 'uri' is not a valid format.",
      'tools[0].parameters',
    ],
  ])('names the field %s of a request to OpenAI: %s', (field, words, param) => {
    const body = { include: [], store: false, tools: [{ name: 'x', strict: false }] };
    expect(fieldNamedIn({ words, param }, body, openaiWire.spare)).toBe(field);
  });
});
