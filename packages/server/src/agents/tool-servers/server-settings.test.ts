import { expect, it } from 'vitest';
import { createHider, fillHeaders } from './server-settings.ts';

const values = {
  company: new Map([
    ['TOKEN', 'abc'],
    ['REFERENCE', '${user_secret:MINE}'],
    ['BREAK', 'a\nb'],
  ]),
  user: new Map([
    ['TOKEN', 'xyz'],
    ['MINE', '${secret:TOKEN}'],
  ]),
};

it.each([
  ['Bearer ${secret:TOKEN}', 'Bearer abc'],
  ['${TOKEN}', 'abc'],
  ['${user_secret:TOKEN}/${secret:TOKEN}', 'xyz/abc'],
  ['${secret:REFERENCE} ${user_secret:MINE}', '${user_secret:MINE} ${secret:TOKEN}'],
  ['${secret:OTHER}', '${secret:OTHER}'],
  ['  eu ', 'eu'],
])('fills %s as %s', (value, filled) => {
  expect(fillHeaders({ 'X-Header': value }, values)).toEqual({ headers: { 'X-Header': filled }, unsendable: [] });
});

it('names the headers that HTTP cannot carry', () => {
  const headers = { A: 'x ${secret:BREAK}', B: '${secret:TOKEN}', C: 'ключ', D: 'naïve', E: 'a\tb' };
  expect(fillHeaders(headers, values).unsendable).toEqual(['A', 'C']);
});

it.each<[string, string[], string]>([
  ['a hunter2 b hunter2', ['hunter2'], 'a [secret] b [secret]'],
  ['hunter2-and-more', ['hunter2', 'hunter2-and-more'], '[secret]'],
  ['hunter2!', ['hunter2\n'], '[secret]!'],
  ['.*', ['....'], '.*'],
  ['a key of $& length', ['$& length'], 'a key of [secret]'],
  ['the eu', ['eu', ''], 'the eu'],
])('in %j hides %j', (text, values, shown) => {
  expect(createHider(values)(text)).toBe(shown);
});
