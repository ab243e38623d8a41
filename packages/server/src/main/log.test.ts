import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import { createLog, readableLog } from './log.ts';

it('formats a log line for a terminal with its fields, and an error with its stack [OPS-420]', () => {
  const lines: string[] = [];
  const log = createLog('info', readableLog({ write: (line) => lines.push(line) }));
  log.info({ route: 'GET /v1/me', status: 200 }, 'answered');
  log.warn({ slug: 'a\u001b[2Jb\nc' }, 'odd');
  log.error({ err: new Error('gone', { cause: new TypeError('first') }) }, 'failed');
  const shown = lines.join('');
  const plain = stripVTControlCharacters(shown);
  expect(plain).toMatch(/^\d\d:\d\d:\d\d info {2}answered route=GET \/v1\/me status=200\n/);
  // Text from outside must not move the cursor or start a new line.
  expect(shown).not.toContain('\u001b[2J');
  expect(plain).toContain('warn  odd slug=a [2Jb c\n');
  expect(plain).toMatch(/error failed\n {2}Error gone\n {2}at .*\n[\s\S]* {2}TypeError first\n/);
});
