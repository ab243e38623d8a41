import { expect, it } from 'vitest';
import { withoutSecrets } from './secrets-in-export.ts';

it.each<[string, unknown, unknown]>([
  ['a field by its name', { api_key: 'abc' }, { api_key: '${API_KEY}' }],
  ['a header with its scheme', { Authorization: 'Bearer abcdef' }, { Authorization: 'Bearer ${AUTHORIZATION}' }],
  [
    'a variable of a secret type',
    [{ name: 'x', value: 'v1', value_type: 'secret' }],
    [{ name: 'x', value: '${X}', value_type: 'secret' }],
  ],
  ['a known form in a sentence', { a: 'Use sk-ant-0123456789abcdefghij.' }, { a: 'Use ${A}.' }],
  ['a password in an address', { url: 'https://ada:s3cr3t@x.example' }, { url: 'https://ada:${URL}@x.example' }],
  ['the same value elsewhere', { token: 'abcdefgh1', b: 'is abcdefgh1' }, { token: '${TOKEN}', b: 'is ${TOKEN}' }],
  ['a template', { token: '{{#env.token#}}' }, { token: '{{#env.token#}}' }],
  ['a reference', { token: '${TOKEN}' }, { token: '${TOKEN}' }],
  ['a number', { max_tokens: 512 }, { max_tokens: 512 }],
  ['a description', { secret: 'The secret of the shop.' }, { secret: 'The secret of the shop.' }],
  ['a schema', { properties: { token: { type: 'string' } } }, { properties: { token: { type: 'string' } } }],
  ['a plain sentence', { a: 'Ask for the password: it is needed.' }, { a: 'Ask for the password: it is needed.' }],
])('credentials of an export are found, and nothing else: %s [IMP-707]', (_, content, clean) => {
  expect(withoutSecrets(content).content).toEqual(clean);
});
