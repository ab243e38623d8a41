import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import { createLog } from './log.ts';
import { readableLog } from './readable-log.ts';

it('shows a line of the log as a sentence with its facts, and an error with where it came from [OPS-420]', () => {
  const lines: string[] = [];
  const log = createLog('info', readableLog({ write: (line) => lines.push(line) }));
  log.info({ route: 'GET /v1/me', status: 200 }, 'answered');
  log.warn({ slug: 'a\u001b[2Jb\nc' }, 'odd');
  log.error({ err: new Error('gone', { cause: new TypeError('first') }) }, 'failed');
  const shown = lines.join('');
  const plain = stripVTControlCharacters(shown);
  expect(plain).toMatch(/^\d\d:\d\d:\d\d info {2}answered route=GET \/v1\/me status=200\n/);
  // What came from elsewhere moves no cursor and begins no line.
  expect(shown).not.toContain('\u001b[2J');
  expect(plain).toContain('warn  odd slug=a [2Jb c\n');
  expect(plain).toMatch(/error failed\n {2}Error gone\n {2}at .*\n[\s\S]* {2}TypeError first\n/);
});
