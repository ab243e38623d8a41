import { posix } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { homePath } from './home-files.ts';

it.each([
  ['notes.md', '/home/agent/notes.md'],
  ['./a/../b', '/home/agent/b'],
  ['~/b', '/home/agent/b'],
  ['~', '/home/agent'],
  ['.', '/home/agent'],
  ['/home/agent/a/', '/home/agent/a'],
  ['~other', '/home/agent/~other'],
  ['..', null],
  ['a/../../x', null],
  ['/etc/passwd', null],
  ['/home/agentx/a', null],
  ['/home/agent/../../etc', null],
  ['~/../../x', null],
  ['a\0b', null],
  ['a'.repeat(5000), null],
])('%j is %j', (given, expected) => {
  expect(homePath(given)).toBe(expected);
});

it('never leaves the home folder', () => {
  const part = fc.constantFrom('..', '.', '', '~', 'a', 'home', 'agent', 'etc', '...');
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), fc.boolean(), (parts, isWhole) => {
      const path = homePath(`${isWhole ? '/' : ''}${parts.join('/')}`);
      if (path === null) return;
      expect(path).toBe(posix.normalize(path));
      expect(path === '/home/agent' || path.startsWith('/home/agent/')).toBe(true);
      expect(path.split('/')).not.toContain('..');
    }),
  );
});
