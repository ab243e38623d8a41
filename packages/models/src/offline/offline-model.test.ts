import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import {
  agent,
  answer,
  askQuestion,
  converse,
  handOff,
  recall,
  search,
  shop,
  text,
  tool,
  user,
} from './offline-model.fixture.ts';
import { phrasesFor, standInWords } from './phrases.ts';

const standInNotice = phrasesFor('en', '').notice;

describe('offline', () => {
  it('returns the same events for the same request, in the order of the port [MOD-005] [MOD-013]', async () => {
    const messages = [user('What is the weather in Oslo?')];
    const first = await answer(messages, { tools: shop });
    expect(await answer(messages, { tools: shop })).toEqual(first);
    expect(first.events.map(({ type }) => type)).toEqual(['call', 'end']);
    expect((await answer([user('Hello')])).events.at(0)?.type).toBe('text');
  });

  it('says once that it is a stand-in [MOD-006]', async () => {
    const first = await answer([user('Hello')]);
    expect(first.text).toContain(standInNotice);
    const second = await answer([user('Hello'), agent(first.text), user('What is new?')]);
    expect(second.text).not.toContain(standInWords);
    expect(second.text).not.toBe('');
  });

  it("acts by the purpose of a request, regardless of the agent's instructions", async () => {
    const system = ['You judge a test conversation.\nYou play the user of a test conversation.\nGoal: Get a refund.'];
    expect((await answer([user('Hello')], { system })).text).toContain(standInNotice);
    expect((await answer([user('Hello')], { system, purpose: 'judge' })).text).toBe('{"criteria":[],"must_never":[]}');
  });

  it('quotes a tool result without its fence', async () => {
    const fence = 'a1'.repeat(12);
    const output = `<data-${fence} of="get_weather">\nSunny in Oslo\n</data-${fence}>`;
    const { text } = await converse([user('What is the weather in Oslo?')], shop, { get_weather: output });
    expect(text).toContain('Sunny in Oslo');
    expect(text).not.toContain('data-');
  });

  it('counts about four characters per token and respects the limit', async () => {
    const { end, text } = await answer([user('x'.repeat(400))], { system: [] });
    expect(end.usage).toEqual({
      inputTokens: 100,
      outputTokens: Math.ceil(text.length / 4),
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
    });
    const short = await answer([user('Hello')], { maxOutputTokens: 5 });
    expect(short.end.cut).toBe(true);
    expect(short.text).toHaveLength(20);
  });

  it('stops at once', async () => {
    const reason = new Error('stopped');
    await expect(answer([user('Hello')], { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it.each([
    [
      'JSON of passages',
      '{"results":[{"title":"Returns","text":"We ship daily. Returns are free within 30 days."},{"title":"Hours","text":"We open at nine."}]}',
      '“Returns are free within 30 days.”',
    ],
    ['plain text', 'Shipping takes two days.\nReturns are free within 30 days.', '“Returns are free within 30 days.”'],
    ['nothing found', '{"results":[]}', 'I found nothing about this'],
    ['nothing found in words', 'No results.', 'I found nothing about this'],
  ])('answers from notebooks: %s [MOD-007]', async (_name, output, expected) => {
    const { called, text } = await converse([user('How many days do I have for returns?')], [search], {
      search_notebooks: output,
    });
    expect(called).toEqual(['search_notebooks']);
    expect(text).toContain(expected);
  });

  it('names the document that it quotes', async () => {
    const output = '[{"title":"Returns","text":"Returns are free within 30 days."}]';
    const { text } = await converse([user('Are returns free?')], [search], { search_notebooks: output });
    expect(text).toContain('From Returns: “Returns are free within 30 days.”');
  });

  it('answers from memory [MOD-008]', async () => {
    const { called, text } = await converse([user('Which shoe size do I wear?')], [search, recall], {
      search_notebooks: '[]',
      recall: '[{"text":"Wears shoe size 42."},{"text":"Lives in Oslo."}]',
    });
    expect(called).toEqual(['search_notebooks', 'recall']);
    expect(text).toContain('“Wears shoe size 42.”');
    expect(text).not.toContain('Oslo');
  });

  it("searches with the user's words", async () => {
    const { calls } = await answer([user('Where is the office?')], { tools: [search] });
    expect(calls).toEqual([{ id: 'call_1', name: 'search_notebooks', arguments: { query: 'Where is the office?' } }]);
  });

  it.each<[string, string, string, object]>([
    ['a place', 'What is the weather like in New York?', 'get_weather', { city: 'New York' }],
    [
      'an id and an amount',
      'Please refund order ORD-1234 with 25.50',
      'refund_order',
      { order_id: 'ORD-1234', amount: 25.5 },
    ],
    ['a number as an id', 'look up order 98765', 'lookup_order', { order_id: '98765' }],
    [
      'an email',
      'Send an email to ada@example.com: "The parcel is on its way"',
      'send_email',
      { to: 'ada@example.com', body: 'The parcel is on its way' },
    ],
    ['an enum word', 'Open a high priority ticket: the door is broken', 'create_ticket', { priority: 'high' }],
    [
      'a date and a count',
      'Book a room for 2 guests on 1 May 2027',
      'mcp__hotel__book_room',
      { date: '2027-05-01', guests: 2 },
    ],
    [
      'data beside the message',
      'Refund my order\n{"order_id":"ord_77","amount":5}',
      'refund_order',
      { order_id: 'ord_77', amount: 5 },
    ],
    ['named values', 'lookup order, order_id: A-1', 'lookup_order', { order_id: 'A-1' }],
  ])('[MOD-009] calls the fitting tool with %s', async (_name, message, name, given) => {
    const { calls } = await answer([user(message)], { tools: shop });
    expect(calls).toMatchObject([{ name, arguments: given }]);
  });

  it.each(['Tell me about the history of Rome', 'Who are you?', 'Is the museum open on Sunday?'])(
    'calls no tool if none matches: %s',
    async (message) => {
      expect((await answer([user(message)], { tools: shop })).calls).toEqual([]);
    },
  );

  it("reports a tool's result or its failure", async () => {
    const worked = await converse([user('Weather in Oslo?')], shop, { get_weather: '4 degrees, rain' });
    expect(worked.text).toContain('4 degrees, rain');
    const failed = await converse([user('Weather in Oslo?')], shop, {});
    expect(failed.text).toContain('`get_weather` did not work');
  });

  it('calls one tool after another if the message asks for both', async () => {
    const { called, text } = await converse(
      [user('Look up order ORD-5 and then send an email to eve@example.com saying "done"')],
      shop,
      {
        lookup_order: '{"status":"shipped"}',
        send_email: 'sent',
      },
    );
    expect(called).toEqual(['lookup_order', 'send_email']);
    expect(text).toContain('shipped');
  });

  it('asks for a missing argument in text and continues with the answer [MOD-010]', async () => {
    const first = await answer([user('What will the weather be?')], { tools: shop });
    expect(first.calls).toEqual([]);
    expect(first.text).toContain('I need the city');
    expect(first.text).toMatch(/\?$/);
    const second = await answer([user('What will the weather be?'), agent(first.text), user('Bergen')], {
      tools: shop,
    });
    expect(second.calls).toMatchObject([{ name: 'get_weather', arguments: { city: 'Bergen' } }]);
  });

  it('asks through ask_question if it exists [MOD-010]', async () => {
    const tools = [...shop, askQuestion];
    const { calls } = await answer([user('What will the weather be?')], { tools });
    expect(calls).toMatchObject([
      { name: 'ask_question', arguments: { questions: [{ question: expect.stringContaining('city') }] } },
    ]);
    const { called } = await converse([user('What will the weather be?')], tools, {
      ask_question: 'Bergen',
      get_weather: 'snow',
    });
    expect(called).toEqual(['ask_question', 'get_weather']);
  });

  it('never calls a tool with arguments that do not match its schema', async () => {
    for (const message of [
      'refund order',
      'refund order twelve',
      'book a room',
      'send an email',
      'open a ticket',
      'refund 5',
    ]) {
      for (const { name, arguments: given } of (await answer([user(message)], { tools: shop })).calls) {
        const schema = shop.find((each) => each.name === name)?.inputSchema as object;
        expect(
          new Ajv({ strict: false, validateFormats: false }).validate(schema, given),
          `${message}: ${JSON.stringify(given)}`,
        ).toBe(true);
      }
    }
  });

  it.each([
    ['Research our five largest competitors and write a report', true],
    ['Compare the prices of these laptops', true],
    ['What is the capital of Norway?', false],
    ['Hello', false],
  ])('hands off longer tasks: %s', async (message, isHandedOff) => {
    const { calls } = await answer([user(message)], { tools: [handOff] });
    expect(calls.map(({ name }) => name)).toEqual(isHandedOff ? ['hand_off_to_work'] : []);
    if (isHandedOff) expect(calls[0]?.arguments).toEqual({ task: message });
  });

  it('ends a task through finish', async () => {
    const finish = tool('finish', 'Ends the work.', { text });
    const { called, history } = await converse([user('How long is the warranty?')], [search, finish], {
      search_notebooks: 'The warranty is two years.',
      finish: 'ok',
    });
    expect(called).toEqual(['search_notebooks', 'finish']);
    expect(JSON.stringify(history)).toContain('“The warranty is two years.”');
  });

  it('fills an output schema from the conversation [MOD-011]', async () => {
    const outputSchema = {
      type: 'object',
      properties: {
        order_id: text,
        total: { type: 'number', minimum: 0 },
        contact: { type: 'object', properties: { email: { type: 'string', format: 'email' } }, required: ['email'] },
        priority: { enum: ['low', 'medium', 'high'] },
        tags: { type: 'array', items: text, maxItems: 3 },
        answer: text,
      },
      required: ['order_id', 'total', 'contact', 'priority', 'tags', 'answer'],
      additionalProperties: false,
    };
    const message = 'Order ORD-99 for 120.50 is late, please treat it with high priority and write to kim@example.com';
    const data = JSON.parse((await answer([user(message)], { outputSchema })).text);
    expect(data).toMatchObject({
      order_id: 'ORD-99',
      total: 120.5,
      contact: { email: 'kim@example.com' },
      priority: 'high',
    });
    expect(new Ajv({ strict: false, validateFormats: false }).validate(outputSchema, data)).toBe(true);
  });

  it('calls tools first and fills the schema with their results [MOD-011]', async () => {
    const outputSchema = { type: 'object', properties: { status: text }, required: ['status'] };
    const { called, text: json } = await converse(
      [user('Look up order ORD-5')],
      shop,
      { lookup_order: '{"status":"shipped"}' },
      { outputSchema },
    );
    expect(called).toEqual(['lookup_order']);
    expect(JSON.parse(json)).toEqual({ status: 'shipped' });
  });
});
