import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { blocksOf } from '../../../../tests/support/documented-blocks.ts';
import { fileSchemaPath } from '../schema-line.ts';
import { fileSchema } from './file-schema.ts';
import type { JsonSchema } from './json-schema.ts';

const root = join(import.meta.dirname, '../../../..');
const schema = fileSchema('1.2.3');
// The server validates formats beyond their pattern.
const isValid = new Ajv2020({ allErrors: true, validateFormats: false }).compile(schema);

describe('the schema of service.yaml', () => {
  it.each(globSync('examples/*/service.yaml', { cwd: root }))('accepts %s, which refers to it [DFILE-300]', (file) => {
    const text = readFileSync(join(root, file), 'utf8');
    isValid(parse(text));
    expect(isValid.errors).toBeNull();
    expect(text.split('\n')[0]).toBe(`# yaml-language-server: $schema=http://127.0.0.1:4600${fileSchemaPath}`);
  });

  it.each(
    globSync('docs/*.md', { cwd: root }).flatMap((page) =>
      blocksOf(readFileSync(join(root, page), 'utf8'))
        .filter(
          ({ title, language }) => title === 'service.yaml' || (language === 'yaml' && title?.endsWith('service.yaml')),
        )
        .map(({ line, code }) => [`${page}:${line}`, code] as const),
    ),
  )('accepts the file at %s [DFILE-704]', (_, code) => {
    isValid(parse(code));
    expect(isValid.errors).toBeNull();
  });

  it('describes every field at every depth [DFILE-704]', () => {
    expect(fieldsOf(schema).filter(([, field]) => typeof field.description !== 'string')).toEqual([]);
    expect(fieldsOf(schema).length).toBeGreaterThan(60);
  });

  it.each([
    ['a file without a name', {}, ''],
    ['a field that there is not', { name: 'desk', instrutions: 'Be kind.' }, ''],
    ['a name that is none', { name: 'My desk!' }, '/name'],
    ['a test without what it expects', { name: 'desk', tests: [{ name: 'one', ask: 'Hello?' }] }, '/tests/0'],
    [
      'an event that there is not',
      { name: 'desk', webhooks: [{ url: 'https://a.example', events: ['task.done'] }] },
      '/webhooks/0/events',
    ],
    ['a limit that is too high', { name: 'desk', limits: { max_steps: 5000 } }, '/limits/max_steps'],
    ['an approval that nobody knows', { name: 'desk', approvals: ['theft'] }, '/approvals/0'],
  ])('rejects %s and names the place [DFILE-300]', (_, file, place) => {
    expect(isValid(file)).toBe(false);
    expect(isValid.errors?.map(({ instancePath }) => instancePath)).toContain(place);
  });

  it('is identified by its version on every server [DFILE-300]', () => {
    expect(schema.$id).toBe('urn:vestra:service.yaml:1.2.3');
  });
});

/** Every property of a schema with its path, also inside lists, choices and maps. */
function fieldsOf(schema: JsonSchema, path = ''): [string, JsonSchema][] {
  const { properties = {}, items, additionalProperties, anyOf = [], allOf = [], oneOf = [] } = schema as Nested;
  return [
    ...Object.entries(properties).flatMap(([name, field]): [string, JsonSchema][] => [
      [`${path}.${name}`, field],
      ...fieldsOf(field, `${path}.${name}`),
    ]),
    ...[items, additionalProperties, ...anyOf, ...allOf, ...oneOf]
      .filter((each) => typeof each === 'object')
      .flatMap((each) => fieldsOf(each, `${path}[]`)),
  ];
}

type Nested = {
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  additionalProperties?: JsonSchema;
  anyOf?: JsonSchema[];
  allOf?: JsonSchema[];
  oneOf?: JsonSchema[];
};
