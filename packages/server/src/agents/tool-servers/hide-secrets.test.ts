import { expect, it } from 'vitest';
import { hideSecrets } from './hide-secrets.ts';

it.each<[string, string[], string]>([
  ['a hunter2 b hunter2', ['hunter2'], 'a [secret] b [secret]'],
  ['hunter2-and-more', ['hunter2', 'hunter2-and-more'], '[secret]'],
  ['hunter2!', ['hunter2\n'], '[secret]!'],
  ['.*', ['....'], '.*'],
  ['a key of $& length', ['$& length'], 'a key of [secret]'],
  ['the eu', ['eu', ''], 'the eu'],
])('in %j hides %j', (text, values, shown) => {
  expect(hideSecrets(text, values)).toBe(shown);
});
