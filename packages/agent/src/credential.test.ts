import { expect, it } from 'vitest';
import { withoutCredentials } from './credential.ts';

it.each([
  ['password', 'hunter2 hunter2'],
  ['newPassword', 'hunter2'],
  ['api_key', 'abc'],
  ['access-token', 'abc'],
  ['cardNumber', '4242424242424242'],
  ['pin', 1234],
  ['credentials', { user: 'ada', word: 'hunter2' }],
])('hides the value of an argument named %s [INT-012]', (name, value) => {
  expect(withoutCredentials(name, value)).toBe('•••');
});

it.each([
  ['sk-ant-api03-abcdefghijklmnop', '•••'],
  ['Use vk_live_0123456789abcdef now', 'Use ••• now'],
  ['Authorization: Bearer abcdefghijklmnop', 'Authorization: •••'],
  ['-----BEGIN RSA PRIVATE KEY-----\nabc', '•••'],
])('hides a key inside a text: %s [INT-012]', (given, shown) => {
  expect(withoutCredentials('note', given)).toBe(shown);
});

it('looks into lists and objects [INT-012]', () => {
  const given = { login: { user: 'ada', password: 'hunter2' }, notes: ['xoxb-1234567890abcdef', 'plain'] };
  expect(withoutCredentials('form', given)).toEqual({
    login: { user: 'ada', password: '•••' },
    notes: ['•••', 'plain'],
  });
});

it.each([
  ['keyboard', 'Dvorak'],
  ['tokenise', 'yes please'],
  ['reset_password', true],
  ['token', null],
  ['iban', 'DE89370400440532013000'],
  ['amount', 12.5],
])('leaves %s as it is', (name, value) => {
  expect(withoutCredentials(name, value)).toBe(value);
});

it('searches no further than anything is shown, so that no text takes long', () => {
  expect(withoutCredentials('note', 'eyJ-'.repeat(60_000))).toHaveLength(2000);
});
