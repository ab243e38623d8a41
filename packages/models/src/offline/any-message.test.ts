import type { ToolDefinition } from '@vestra/agent/message';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answer, refund, shop, text, user } from './offline-model.fixture.ts';
import { fits } from './schema/fits.ts';

describe('offline', () => {
  it('answers any request and never calls a tool with invalid arguments', async () => {
    const words = fc.constantFrom(
      'refund',
      'order',
      'the',
      'weather',
      'and then',
      '12',
      '"x"',
      'a@b.co',
      '{',
      '}',
      '[1]',
      '(',
      '\\',
      '#',
      '2026-01-01',
      '😀',
      '\n',
      'Ö',
    );
    const message = fc.oneof(
      fc.string(),
      fc.array(words, { maxLength: 30 }).map((list) => list.join(' ')),
    );
    const property = fc.constantFrom(
      'order_id',
      'to',
      'constructor',
      '__proto__',
      'a.b(',
      'größe',
      'query',
      '',
      'is_open',
    );
    const schema = fc.constantFrom<object>(
      text,
      { type: 'integer' },
      { type: 'boolean' },
      {},
      { enum: [1, 'high'] },
      { $ref: '#/nowhere' },
      { type: 'array', items: text },
      { type: ['string', 'null'], pattern: '(' },
    );
    const anyTool = fc
      .tuple(fc.constantFrom('refund_order', 'weather', 'x'), fc.dictionary(property, schema), fc.array(property))
      .map(
        ([name, properties, required]): ToolDefinition => ({
          name,
          description: 'Refunds an order.',
          inputSchema: { type: 'object', properties, required },
        }),
      );
    await fc.assert(
      fc.asyncProperty(message, fc.array(anyTool, { maxLength: 3 }), async (said, tools) => {
        const { calls, text: spoken } = await answer([user(said)], { tools });
        expect(calls.length > 0 || spoken !== '').toBe(true);
        for (const call of calls) {
          const schemas = tools.filter(({ name }) => name === call.name).map(({ inputSchema }) => inputSchema);
          expect(schemas.some((each) => fits(each, call.arguments, each))).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  it.each(['a', 'A b ', '1 ', '"', '{', 'and then ', 'x@', 'a-', "'", '1,000', 'http://', 'Jan 1 ', 'A. ', 'x? '])(
    'reads a message of 32,000 characters of %j in linear time',
    async (piece) => {
      const message = `refund order ${piece.repeat(Math.ceil(32_000 / piece.length))}`;
      // CPU time, not wall-clock time: the machine may be busy.
      const begun = process.cpuUsage();
      await answer([user(message)], { tools: shop, outputSchema: refund.inputSchema });
      expect(process.cpuUsage(begun).user).toBeLessThan(2_000_000);
    },
  );
});
