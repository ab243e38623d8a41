import { describe, expect, it } from 'vitest';
import { readItems } from './read-items.ts';

describe('batch files [CON-104]', () => {
  it.each([
    ['a.csv', 'message\nHello\n', [{ message: 'Hello' }]],
    ['a.csv', '\uFEFFmessage,user_id\r\n"a ""b"", c",ada\r\n', [{ message: 'a "b", c', user_id: 'ada' }]],
    ['a.csv', 'order,message\n7,"two\nlines"\n\n', [{ message: 'two\nlines', context: { order: '7' } }]],
    ['a.jsonl', '{"message":"a","metadata":{"n":"1"}}\n\n', [{ message: 'a', metadata: { n: '1' } }]],
  ])('reads %s with %j', (name, text, items) => {
    expect(readItems(name, text)).toEqual(items);
  });

  it.each([
    ['a.csv', 'text\nHello', 'one of them must be `message`'],
    ['a.csv', 'message,user_id\nHello', 'Row 2 has 1 cells, but the first line names 2 columns'],
    ['a.csv', 'message\n"Hello', 'never closed'],
    ['a.csv', 'message,user_id\n ,ada', 'Row 2 has no message'],
    ['a.jsonl', '{"message":"a"}\n{"text":1}', 'Line 2 cannot be read'],
    ['a.jsonl', '', 'no lines'],
  ])('rejects %s with %j', (name, text, reason) => {
    expect(() => readItems(name, text)).toThrow(reason);
  });
});
