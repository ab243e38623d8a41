import { expect, it } from 'vitest';
import { findingsIn, unread } from '../scripts/plain-english.ts';

it.each([
  ['a comment that begins with a clause', 'a.ts', '/** What is sent. */', ['What']],
  ['a question in a comment', 'a.ts', '/** What is in this file? */', []],
  ['a forbidden word', 'a.ts', '// Whoever asks hears it anew.', ['Whoever', 'Whoever', 'anew']],
  ['a forbidden phrase', 'a.ts', '// It goes on without a yes of its own.', ['a yes', 'goes on', 'of its own']],
  ['a quoted word', 'a.ts', '// The column `anew` and the words "a yes".', []],
  ['a plain comment', 'a.ts', '/** Retries the delivery five times. */', []],
  ['a test title', 'a.test.ts', "it('is mended', () => {});", ['mended']],
  ['a table title', 'a.test.ts', "it.each<[string]>([])('is away: %s', () => {});", ['is away']],
  ['a message of the server', 'packages/server/src/a.ts', "fail('The database is away. Try again.');", ['is away']],
  ['a message with values', 'packages/cli/src/a.ts', 'err(`${name} was fixed anew ${time} ago`);', ['anew']],
  ['a statement', 'packages/server/src/a.ts', "sql`SELECT a FROM b WHERE c = 'it is away now'`;", []],
  ['a message of a test', 'packages/server/src/a.test.ts', "fail('The database is away. Try again.');", []],
  ['an example', 'examples/a/service.yaml', '# Books after a yes, and tells so.', ['a yes']],
  ['a string that is no title', 'a.ts', "say('is away');", []],
  ['a bare type name', 'a.ts', 'export type Answer = string;', ['Answer']],
  ['a bare name inside a file', 'a.ts', 'type Answer = string;', []],
  ['a gerund that returns a statement', 'a.ts', 'export function emitting(): Statement {}', ['emitting']],
  ['a gerund that returns something else', 'a.ts', 'export function sibling(): Row {}', []],
  ['a docstring', 'a.py', 'def a():\n    """Whoever calls."""\n', ['Whoever', 'Whoever']],
  ['a word of pages', 'a.md', 'The server tells you what waits.', ['tells', 'what waits']],
  ['a word of pages in a comment', 'a.ts', '// Adds the noun that tells it apart.', []],
  ['prose', 'a.md', 'The server is away.\n\n```\nis away\n```\n', ['is away']],
])('%s', (_, file, text, words) => {
  expect(findingsIn(file, text).map(({ found }) => found)).toEqual(words);
});

it('names the line', () => {
  expect(findingsIn('a.ts', '\n\n// Fixed anew.\n')).toEqual([
    { file: 'a.ts', line: 3, found: 'anew', instead: 'again' },
  ]);
});

it('lists each unread path once, with a reason', () => {
  expect(new Set(unread.map(({ path }) => path)).size).toBe(unread.length);
  expect(unread.every(({ reason }) => reason !== '')).toBe(true);
});
