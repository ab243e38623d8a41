import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { findHomesFault } from './homes-check.ts';
import { tarOf } from './tar-entry.fixture.ts';

const faultOf = (tar: Buffer) => findHomesFault(Readable.from(piecesOf(tar)));

/** Pieces that end in the middle of headers. */
function* piecesOf(tar: Buffer): Generator<Buffer> {
  for (let at = 0; at < tar.length; at += 777) yield tar.subarray(at, at + 777);
}

describe('the homes in a backup', () => {
  it.each([
    ['a name with ..', tarOf({ name: './1/home/../../../etc/cron.d/x' }), /leads out of them/],
    ['an absolute name', tarOf({ name: '/etc/cron.d/x' }), /leads out of them/],
    ['a long name with ..', tarOf({ name: 'x', kind: 'L', content: '../x\0' }, { name: 'y' }), /"\.\.\/x".*leads out/],
    ['a POSIX name with ..', tarOf({ name: 'x', kind: 'x', content: '13 path=../x\n' }, { name: 'y' }), /leads out/],
    ['a character device', tarOf({ name: './1/home/null', kind: '3' }), /no file, folder or link/],
    ['a block device', tarOf({ name: './1/home/disk', kind: '4' }), /no file, folder or link/],
    ['a link for a computer', tarOf({ name: './2', kind: '2', target: '/root' }), /must be a folder/],
    ['a link for a home', tarOf({ name: './2/home', kind: '2', target: '../1/home' }), /must be a folder/],
    [
      'a hard link to another computer',
      tarOf({ name: './2/home/x', kind: '1', target: './1/home/x' }),
      /another computer/,
    ],
    ['a hard link to outside', tarOf({ name: './2/home/x', kind: '1', target: '/etc/shadow' }), /another computer/],
    ['no tar', Buffer.alloc(2_000, 'x'), /no tar|no file/],
    ['a fault after a file', tarOf({ name: './1/home/a', content: 'b'.repeat(3_000) }, { name: '../b' }), /leads out/],
  ])('are refused with %s [HRD-702]', async (_what, tar, fault) => {
    expect(await faultOf(tar)).toMatch(fault);
  });

  it.each(['gnu', 'posix'])('are accepted as the system packs them, in format %s [HRD-702]', async (format) => {
    const folder = mkdtempSync(join(tmpdir(), 'vestra-homes-'));
    const home = join(folder, '1/home');
    const deep = join(home, 'a-folder-with-a-long-name-'.repeat(3), 'another');
    mkdirSync(deep, { recursive: true });
    writeFileSync(join(deep, `${'long-file-name-'.repeat(12)}.txt`), 'x'.repeat(2_000));
    writeFileSync(join(home, 'holes'), 'x');
    truncateSync(join(home, 'holes'), 50_000_000);
    symlinkSync('/etc/passwd', join(home, 'link'));
    linkSync(join(home, 'holes'), join(home, 'same'));
    execFileSync('/usr/bin/mkfifo', [join(home, 'pipe')]);
    try {
      const tar = execFileSync('tar', ['--create', '--file=-', '--sparse', `--format=${format}`, '-C', folder, '.'], {
        maxBuffer: 100_000_000,
      });
      expect(await faultOf(tar)).toBeNull();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
