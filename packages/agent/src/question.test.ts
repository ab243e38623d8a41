import { expect, it } from 'vitest';
import { parsedJson } from './question.ts';

it.each([
  ['{"a": 1}', { a: 1 }],
  [' \n```json\n{"a": 1}\n```\n', { a: 1 }],
  ['```\r\n[1]\r\n```', [1]],
  ['```json\n"```"\n```', '```'],
  ['```json\n{"a": 1}', undefined],
  ['Here it is: {"a": 1}', undefined],
  ['', undefined],
  ['```', undefined],
])('reads %j as %j', (text, value) => {
  expect(parsedJson(text)).toEqual(value);
});

it('parses any text in linear time: backtracking over every line would not end', () => {
  expect(parsedJson(`\`\`\`json\n${'\n'.repeat(2_000_000)}`)).toBeUndefined();
});
