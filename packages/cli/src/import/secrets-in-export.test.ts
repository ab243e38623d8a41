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

/** Put together here, so that no text of this file looks like a credential. */
const body = 'a1B2c3D4e5F6'.repeat(4);
it.each([
  ['sk', '-', body],
  ['app', '-', body],
  ['dataset', '-', body],
  ['ghp', '_', body],
  ['github', '_pat_', body],
  ['glpat', '-', body],
  ['xoxb', '-', body],
  ['AKIA', '', 'A1B2C3D4E5F6G7H8'],
  ['AIza', '', body],
  ['eyJ', '', `${body}.${body}.${body}`],
  ['lsv2', '_', body],
  ['tvly', '-', body],
  ['hf', '_', body],
  ['vk', '_live_', body],
])('credentials of an export are found in a sentence by their form: %s [IMP-707]', (...parts) => {
  expect(withoutSecrets({ a: `Use ${parts.join('')} here.` }).content).toEqual({ a: 'Use ${A} here.' });
});
