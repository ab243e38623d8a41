import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readToolInput } from './tool-input.ts';

const object = (properties: Record<string, unknown>, required: string[]) => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
  additionalProperties: false,
});

describe('the shorthand converts to JSON Schema', () => {
  it.each<[what: string, input: Record<string, unknown>, schema: Record<string, unknown>]>([
    ['nothing at all', {}, object({}, [])],
    ['a string', { order: 'string' }, object({ order: { type: 'string' } }, ['order'])],
    ['an optional integer', { day: 'integer?' }, object({ day: { type: 'integer' } }, [])],
    [
      'a number and a boolean',
      { a: 'number', b: 'boolean' },
      object({ a: { type: 'number' }, b: { type: 'boolean' } }, ['a', 'b']),
    ],
    ['any object', { a: 'object' }, object({ a: { type: 'object' } }, ['a'])],
    ['a list', { tags: 'string[]' }, object({ tags: { type: 'array', items: { type: 'string' } } }, ['tags'])],
    ['an optional list', { tags: 'integer[]?' }, object({ tags: { type: 'array', items: { type: 'integer' } } }, [])],
    ['a choice', { size: 'small|large' }, object({ size: { type: 'string', enum: ['small', 'large'] } }, ['size'])],
    ['an optional choice', { size: 's | m|l?' }, object({ size: { type: 'string', enum: ['s', 'm', 'l'] } }, [])],
    [
      'an object of its own',
      { address: { street: 'string', flat: { number: 'integer?' } } },
      object(
        {
          address: object({ street: { type: 'string' }, flat: object({ number: { type: 'integer' } }, []) }, [
            'street',
            'flat',
          ]),
        },
        ['address'],
      ),
    ],
    ['an argument that is called type', { type: 'string' }, object({ type: { type: 'string' } }, ['type'])],
  ])('%s [TOOL-017, TOOL-019]', (_what, input, schema) => {
    expect(readToolInput(input)).toEqual({ schema, isShorthand: true, faults: [] });
  });
});

it('keeps a JSON Schema of type object unchanged [TOOL-018]', () => {
  const schema = { type: 'object', properties: { order: { type: 'string', minLength: 3 } }, required: ['order'] };
  expect(readToolInput(schema)).toEqual({ schema, isShorthand: false, faults: [] });
});

describe('invalid input is rejected, and the fault names the argument [TOOL-020]', () => {
  const deep = (levels: number): Record<string, unknown> => (levels === 0 ? { a: 'string' } : { a: deep(levels - 1) });
  it.each<[what: string, input: Record<string, unknown>, named: string[]]>([
    ['an unknown type', { id: 'strin' }, ['`id`']],
    ['a type within an object', { address: { street: 'text' } }, ['`address.street`']],
    ['every fault', { a: 'x', b: 'string', c: { d: 5 } }, ['`a`', '`c.d`']],
    ['a choice of types', { id: 'string|integer' }, ['`id`']],
    ['a choice with a gap', { size: 'small||large' }, ['`size`']],
    ['a choice that repeats', { size: 'small|small' }, ['`size`']],
    ['a list of a choice', { size: 'small|large[]' }, ['`size`']],
    ['the signs in the wrong order', { tags: 'string?[]' }, ['`tags`']],
    ['a list of lists', { tags: 'string[][]' }, ['`tags`']],
    ['two question marks', { tags: 'string??' }, ['`tags`']],
    ['no text', { tags: '' }, ['`tags`']],
    ['a list as a type', { tags: ['string'] }, ['`tags`']],
    ['null', { tags: null }, ['`tags`']],
    ['a name with a space', { 'a b': 'string' }, ['`a b`']],
    ['a name of 65', { ['a'.repeat(65)]: 'string' }, [`\`${'a'.repeat(65)}\``]],
    ['nine levels', deep(8), ['`a.a.a.a.a.a.a.a`']],
    ['JSON Schema of another type', { type: 'array', items: {} }, ['`type`']],
  ])('%s', (_what, input, named) => {
    const { faults } = readToolInput(input);
    expect(faults.map((fault) => named.find((name) => fault.includes(name)))).toEqual(named);
  });

  it('accepts eight levels', () => {
    expect(readToolInput(deep(7)).faults).toEqual([]);
  });

  it('rejects more than 32 KB in either form', () => {
    const long = { type: 'object', description: 'a'.repeat(33_000) };
    expect(readToolInput(long).faults).toEqual([expect.stringContaining('may take 32768')]);
    expect(readToolInput({ size: `a|${'b'.repeat(33_000)}` }).faults).toHaveLength(1);
  });
});

it('never throws, and returns an object schema if there is no fault', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (input) => {
      const { faults, schema } = readToolInput(input as Record<string, unknown>);
      if (faults.length === 0) expect(schema.type).toBe('object');
    }),
  );
});
