import type { JsonSchema } from '@vestra/agent/message';

const text = { type: 'string' } as const;

/** Tool schemas as tool servers publish them, each with a shape that some vendor is known to reject. */
export const hardToolSchemas: Readonly<Record<string, JsonSchema>> = {
  root_any_of: {
    type: 'object',
    properties: { page_id: text, database_id: text, title: text },
    anyOf: [{ required: ['page_id'] }, { required: ['database_id'] }],
  },
  root_one_of_without_type: {
    oneOf: [
      { type: 'object', properties: { kind: { const: 'page' }, page_id: text }, required: ['kind', 'page_id'] },
      { type: 'object', properties: { kind: { const: 'user' }, user_id: text }, required: ['kind', 'user_id'] },
    ],
  },
  root_all_of: {
    type: 'object',
    allOf: [
      { type: 'object', properties: { owner: text }, required: ['owner'] },
      { type: 'object', properties: { repository: text }, required: ['repository'] },
    ],
  },
  odd_property_names: {
    type: 'object',
    properties: { 'filter[name]': text, $top: { type: 'integer' }, '@type': text, 'full name': text, größe: text },
  },
  odd_nested_names: {
    type: 'object',
    properties: {
      pipeline: { type: 'array', items: { type: 'object', properties: { $vectorSearch: { type: 'object' } } } },
    },
  },
  without_parameters: { type: 'object' },
  empty_schema: {},
  array_without_items: { type: 'object', properties: { tags: { type: 'array', description: 'Tags to set.' } } },
  reference_with_siblings: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { home: { $ref: '#/$defs/Address', description: 'Where the user lives.' } },
    required: ['home'],
    $defs: { Address: { type: 'object', properties: { street: text }, required: ['street'] } },
  },
  recursive: {
    type: 'object',
    properties: { filter: { $ref: '#/$defs/Filter' } },
    $defs: {
      Filter: {
        type: 'object',
        properties: { field: text, and: { type: 'array', items: { $ref: '#/$defs/Filter' } } },
      },
    },
  },
  formats_and_limits: {
    type: 'object',
    properties: {
      link: { type: 'string', format: 'uri' },
      due: { type: 'string', format: 'date-time' },
      code: { type: 'string', pattern: '^(?!00)[A-Z]{2}$', minLength: 2, maxLength: 2 },
      labels: { type: 'array', items: text, uniqueItems: true, minItems: 1 },
      amount: { type: 'number', exclusiveMinimum: 0, multipleOf: 0.01 },
      count: { type: 'integer', minimum: -9007199254740991, maximum: 9007199254740991, default: 10 },
    },
    required: ['count'],
  },
  unions_and_constants: {
    type: 'object',
    properties: {
      version: { const: 2 },
      limit: { type: ['integer', 'null'], default: null },
      mode: { enum: ['fast', 'slow', 3, null] },
      value: { anyOf: [text, { type: 'number' }, { type: 'null' }] },
      target: { oneOf: [text, { type: 'array', items: text }] },
      anything: true,
    },
  },
  maps_and_conditions: {
    type: 'object',
    properties: {
      headers: { type: 'object', additionalProperties: text, propertyNames: { pattern: '^[a-z-]+$' } },
      point: { type: 'array', prefixItems: [{ type: 'number' }, { type: 'number' }] },
      extra: { type: 'object', patternProperties: { '^x-': text } },
    },
    if: { required: ['point'] },
    // biome-ignore lint/suspicious/noThenProperty: it is a keyword of JSON Schema.
    then: { required: ['headers'] },
    dependentRequired: { extra: ['headers'] },
    not: { required: ['forbidden'] },
    additionalProperties: false,
  },
  large: {
    type: 'object',
    properties: Object.fromEntries(
      Array.from({ length: 90 }, (_, at) => [
        `option_${at}`,
        { type: 'string', enum: [`a${at}`, `b${at}`, `c${at}`], description: `Option ${at} of the report.` },
      ]),
    ),
  },
};

/** An answer schema that every vendor with structured output can enforce. */
export const easyAnswerSchema: JsonSchema = {
  type: 'object',
  properties: { city: text, temperature_c: { type: 'number' } },
  required: ['city', 'temperature_c'],
  additionalProperties: false,
};

/** An answer schema with the parts that strict modes reject: formats, references with siblings, limits, free keys. */
export const hardAnswerSchema: JsonSchema = {
  type: 'object',
  properties: {
    city: { type: 'string', description: 'The city.', minLength: 1 },
    source: { type: 'string', format: 'uri' },
    place: { $ref: '#/$defs/Place', description: 'Where it is.' },
    tags: { type: 'array', items: text, uniqueItems: true },
    version: { const: 1 },
    notes: { type: ['string', 'null'] },
  },
  required: ['city', 'place', 'version'],
  $defs: { Place: { type: 'object', properties: { country: text }, required: ['country'] } },
};
