import type { JsonSchema } from '@vestra/agent/message';

/** Schemas of real servers and of schema libraries that vendors reject, with arguments that they accept. */
export const hardSchemas: Record<string, { schema: JsonSchema; valid: unknown[] }> = {
  'a root without anything': { schema: {}, valid: [{}] },
  'a root with anyOf beside its type': {
    schema: {
      type: 'object',
      anyOf: [
        { properties: { id: { type: 'string' }, deep: { type: 'boolean' } }, required: ['id'] },
        { properties: { url: { type: 'string', format: 'uri' } }, required: ['url'] },
      ],
    },
    valid: [{ id: 'a' }, { url: 'https://a.example' }],
  },
  'a discriminated union as the root': {
    schema: {
      oneOf: [
        { type: 'object', properties: { kind: { const: 'a' }, size: { type: 'number' } }, required: ['kind', 'size'] },
        { type: 'object', properties: { kind: { const: 'b' }, size: { type: 'string' } }, required: ['kind'] },
      ],
    },
    valid: [{ kind: 'a', size: 1 }, { kind: 'b', size: 'x' }, { kind: 'b' }],
  },
  'allOf at the root': {
    schema: {
      allOf: [
        { $ref: '#/definitions/base' },
        { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      ],
      definitions: { base: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] } },
    },
    valid: [{ id: 1, name: 'a' }],
  },
  'a reference as the root': {
    schema: { $ref: '#/$defs/input', $defs: { input: { type: 'object', properties: { a: { type: 'string' } } } } },
    valid: [{ a: 'b' }],
  },
  'a reference with a description, as zod and pydantic write it': {
    schema: {
      type: 'object',
      properties: {
        to: { $ref: '#/$defs/place', description: 'Where to.' },
        from: { allOf: [{ $ref: '#/$defs/place' }], title: 'x' },
      },
      $defs: { place: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
    },
    valid: [{ to: { city: 'Bonn' }, from: { city: 'Oslo' } }],
  },
  'a tree': {
    schema: {
      type: 'object',
      properties: { root: { $ref: '#/$defs/node', description: 'The root.' } },
      $defs: { node: { type: 'object', properties: { children: { type: 'array', items: { $ref: '#/$defs/node' } } } } },
    },
    valid: [{ root: { children: [{ children: [] }] } }],
  },
  'a reference to a property': {
    schema: {
      type: 'object',
      properties: {
        query: { type: 'array', items: [{ type: 'string' }], additionalItems: { $ref: '#/properties/query/items/0' } },
      },
    },
    valid: [{ query: ['a'] }],
  },
  'a reference to nothing': {
    schema: {
      type: 'object',
      properties: { a: { $ref: '#/$defs/gone' }, b: { $ref: 'https://x.example/schema.json' } },
    },
    valid: [],
  },
  'names of OData and of JSON:API': {
    schema: {
      type: 'object',
      properties: {
        $top: { type: 'integer' },
        'filter[name]': { type: 'string' },
        body: { type: 'object', properties: { '@odata.type': { type: 'string' } }, required: ['@odata.type'] },
        [`${'long_'.repeat(20)}name`]: { type: 'string' },
      },
      required: ['$top'],
    },
    valid: [{ $top: 1, 'filter[name]': 'x', body: { '@odata.type': 'y' } }],
  },
  'lists without items, and tuples': {
    schema: {
      type: 'object',
      properties: {
        list: { type: 'array' },
        pair: { type: 'array', items: [{ type: 'string' }, { type: 'number' }] },
        modern: { type: 'array', prefixItems: [{ type: 'string' }], items: false },
      },
    },
    valid: [{ list: [1, 'a'] }],
  },
  'limits of draft 4': {
    schema: {
      type: 'object',
      properties: { n: { type: 'number', minimum: 0, exclusiveMinimum: true, required: true } },
    },
    valid: [],
  },
  'types that do not exist': {
    schema: {
      type: 'object',
      properties: { a: { type: 'any' }, b: { type: ['string', 'file'] }, c: { type: 'string', nullable: true } },
    },
    valid: [],
  },
  'free keys by pattern': {
    schema: {
      type: 'object',
      properties: { map: { type: 'object', patternProperties: { '^(.*)$': { type: 'number' } } } },
    },
    valid: [{ map: { a: 1 } }],
  },
  'a required property that is not described': {
    schema: { type: 'object', properties: {}, required: ['ref'] },
    valid: [{ ref: 'x' }],
  },
  'properties called as keywords': {
    schema: {
      type: 'object',
      properties: {
        properties: { type: 'array', items: { type: 'string' } },
        required: { type: 'string' },
        $ref: { type: 'string' },
      },
    },
    valid: [{ properties: ['a'], required: 'b' }],
  },
  'alternatives beside properties inside': {
    schema: {
      type: 'object',
      properties: {
        where: {
          type: 'object',
          properties: { id: { type: 'string' }, name: { type: 'string' } },
          anyOf: [{ required: ['id'] }, { required: ['name'] }],
        },
      },
    },
    valid: [{ where: { id: 'a' } }, { where: { name: 'b' } }],
  },
  'true as a schema': { schema: { type: 'object', properties: { any: true } } as JsonSchema, valid: [{ any: [1] }] },
};
