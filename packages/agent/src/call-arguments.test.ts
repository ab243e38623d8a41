import { describe, expect, it } from 'vitest';
import { completeArguments } from './call-arguments.ts';

const properties = {
  scale: { type: 'string', enum: ['css', 'device'], default: 'css' },
  page: { type: 'integer', default: 1 },
  note: { type: 'string' },
  tag: { type: ['string', 'null'] },
  any: {},
  either: { anyOf: [{ type: 'string' }, { type: 'null' }] },
  linked: { $ref: '#/$defs/word' },
  rows: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } },
  deep: { type: 'object', properties: { size: { type: 'integer', default: 3 } }, required: ['size'] },
};
const schema = { type: 'object', properties, required: ['scale'], $defs: { word: { type: 'string' } } };

describe('the arguments of a call', () => {
  it.each<[string, unknown, unknown]>([
    ['get the default of a required property', {}, { scale: 'css' }],
    ['keep a given value', { scale: 'device', page: 2 }, { scale: 'device', page: 2 }],
    ['get the default instead of null', { scale: null }, { scale: 'css' }],
    ['lose null for an optional property', { scale: 'css', note: null, page: null }, { scale: 'css' }],
    ['lose null behind a reference', { scale: 'css', linked: null }, { scale: 'css' }],
    [
      'keep null where the schema accepts it',
      { scale: 'css', tag: null, any: null, either: null },
      { scale: 'css', tag: null, any: null, either: null },
    ],
    ['keep null for an unknown property', { scale: 'css', other: null }, { scale: 'css', other: null }],
    [
      'are completed in lists and objects',
      { scale: 'css', rows: [{ a: null }], deep: {} },
      { scale: 'css', rows: [{}], deep: { size: 3 } },
    ],
    ['that are no object stay', 'text', 'text'],
    ['that are null stay', null, null],
  ])('%s [MCPS-720]', (_what, given, expected) => {
    expect(completeArguments(given, schema)).toEqual(expected);
  });

  it('are the same object if nothing changes, and no prototype is changed [MCPS-720]', () => {
    const given = { scale: 'css', rows: [{ a: 'b' }] };
    expect(completeArguments(given, schema)).toBe(given);
    const hostile = { properties: { ['__proto__']: { default: { isAdmin: true } } }, required: ['__proto__'] };
    const result = completeArguments({}, hostile) as { isAdmin?: boolean };
    expect(result.isAdmin).toBeUndefined();
  });

  it('survive references that refer to themselves [MCPS-720]', () => {
    const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' }, name: { type: 'string' } } };
    const endless = { $ref: '#/$defs/node', $defs: { node, loop: { $ref: '#/$defs/loop' } } };
    expect(completeArguments({ next: { next: { name: null } } }, endless)).toEqual({ next: { next: {} } });
  });
});
