import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { fileSchemaPath } from '../schema-line.ts';
import { fileSchema } from './file-schema.ts';

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
