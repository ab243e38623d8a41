import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { isSystemFile, skillDigest, skillPath } from './skill-digest.ts';

const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');

it('covers the files sorted by path, each as path, NUL, byte length, NUL, bytes [SKL-025]', async () => {
  const files = [
    { path: 'scripts/run.sh', content: 'echo hi\n' },
    { path: 'SKILL.md', content: 'é' },
  ];
  expect(await skillDigest(files)).toBe(sha256('SKILL.md\x002\0éscripts/run.sh\x008\0echo hi\n'));
  expect(await skillDigest([])).toBe(sha256(''));
});

it('equals the result of a shell command for the same folder', async () => {
  // printf 'SKILL.md\0003\000abc' | sha256sum
  expect(await skillDigest([{ path: 'SKILL.md', content: 'abc' }])).toBe(
    '14b245f4c4920e1a9e5b0587ac15ef843966171bbcbf706364ef401da5d950e8',
  );
});

it('is the same for text and its bytes, in any order of files', async () => {
  const [text, bytes] = ['ünï', Buffer.from('ünï')];
  const one = await skillDigest([
    { path: 'a', content: text },
    { path: 'b', content: '' },
  ]);
  const other = await skillDigest([
    { path: 'b', content: new Uint8Array() },
    { path: 'a', content: bytes },
  ]);
  expect(one).toBe(other);
});

it('sorts by bytes, not by UTF-16 units', async () => {
  const [ligature, emoji] = ['\ufb00', '\u{1f600}'];
  expect(emoji < ligature).toBe(true);
  const files = [emoji, ligature].map((path) => ({ path, content: '' }));
  expect(await skillDigest(files)).toBe(sha256(`${ligature}\x000\0${emoji}\x000\0`));
});

it('sorts a path before a longer one with the same beginning', async () => {
  const files = ['a/b', 'a'].map((path) => ({ path, content: '' }));
  expect(await skillDigest(files)).toBe(sha256('a\x000\0a/b\x000\0'));
});

it('normalises accents in names', async () => {
  const [composed, decomposed] = ['caf\u00e9.md', 'cafe\u0301.md'];
  expect(skillPath(decomposed)).toBe(composed);
  const digests = [composed, decomposed].map((path) => skillDigest([{ path, content: 'x' }]));
  expect(await digests[0]).toBe(await digests[1]);
});

it.each([
  ['__MACOSX/._SKILL.md', true],
  ['skill/__MACOSX/x', true],
  ['.DS_Store', true],
  ['scripts/.DS_Store', true],
  ['.DS_Store/readme.md', false],
  ['MACOSX/x', false],
  ['.gitignore', false],
])('treats %s as a system file: %s', (path, expected) => {
  expect(isSystemFile(path)).toBe(expected);
});
