import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { beforeAll, describe, expect, it } from 'vitest';
import { tarOf } from '../../operator/archive/tar-entry.fixture.ts';
import { newComputers, say } from './computer-folder.fixture.ts';
import type { ComputerFolders } from './computer-folder.ts';
import { createConfinedHost } from './confined-host.ts';
import { createHomeArchive, unpackHomes } from './home-archive.ts';

const archive = createHomeArchive();
const host = createConfinedHost({ allowPrivate: false, hasNetwork: false });
let here: ComputerFolders;
let elsewhere: ComputerFolders;
let packed: Buffer;

const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

async function whole(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}

/** Everything that a program can leave in its home. */
const hostile = `
  mkdir -p deep/er closed 'odd name'; echo secret >closed/kept; chmod 000 closed/kept closed
  echo one >deep/er/file; ln deep/er/file hard; ln -s /etc/passwd out; ln -s ../../../../tmp up; ln -s deep/er loop
  printf 'x' >'odd name/new
line'; printf 'y' >$'bytes\\xff'; mkfifo pipe; truncate -s 1G hole; printf z >>hole
  echo run >script; chmod 4751 script; touch -d 2001-02-03T04:05:06Z old; mkdir up-link; rmdir up-link; ln -s . self
  python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("sock")'`;

beforeAll(async () => {
  const [one, two] = [await newComputers(), await newComputers()];
  here = await one.folders(1);
  elsewhere = await two.folders(7);
  expect(await say(host, here, hostile)).toMatchObject({ exitCode: 0, stderr: '' });
  await mkdir(join(here.browser, 'Default/Cache'), { recursive: true });
  await writeFile(join(here.browser, 'Default/Cookies'), 'cookies');
  await writeFile(join(here.browser, 'Default/Cache/data'), randomBytes(100_000));
  packed = await whole(archive.pack(here));
});

describe('the home of a computer', () => {
  it('is packed with all its content, and restored under the account of another machine [STORE-010]', async () => {
    expect(packed.length).toBeLessThan(20_000);
    await writeFile(join(elsewhere.home, 'older'), 'older');
    await archive.unpack(elsewhere, chunksOf(packed), hashOf(packed));
    const look = `
      stat -c '%n %F %a %h' closed deep/er/file hard pipe script | sort; cat closed/kept 2>&1
      chmod 700 closed; chmod 600 closed/kept; cat closed/kept hard 'odd name/new
line' $'bytes\\xff'; readlink out up loop self; tail -c 1 hole; stat -c '%s %b' hole; stat -c %Y old; id -u; stat -c %u script; ls sock older 2>&1`;
    const { stdout } = await say(host, elsewhere, look);
    expect(stdout.split('\n')).toEqual([
      ...['closed directory 0 2', 'deep/er/file regular file 644 2', 'hard regular file 644 2', 'pipe fifo 644 1'],
      ...['script regular file 4751 1', 'cat: closed/kept: Permission denied', 'secret', 'one'],
      ...['xy/etc/passwd', '../../../../tmp', 'deep/er', '.', expect.stringMatching(/^z1073741825 (8|16|24)$/)],
      ...['981173106', '1000', '1000'],
      "ls: cannot access 'sock': No such file or directory",
      "ls: cannot access 'older': No such file or directory",
      '',
    ]);
    expect(await readFile(join(elsewhere.browser, 'Default/Cookies'), 'utf8')).toBe('cookies');
    expect(existsSync(join(elsewhere.browser, 'Default/Cache'))).toBe(false);
    expect((await lstat(join(elsewhere.home, 'out'))).isSymbolicLink()).toBe(true);
    expect(await readlink(join(elsewhere.home, 'out'))).toBe('/etc/passwd');
    const { uid } = await stat(join(elsewhere.home, 'script'));
    expect(uid).toBe(elsewhere.identity?.uid ?? process.getuid?.());
    expect(existsSync(join(elsewhere.home, '..', 'restoring'))).toBe(false);
  });

  it('stays as it is if the archive is damaged, truncated or too large [STORE-011]', async () => {
    const mark = join(elsewhere.home, 'mark');
    await writeFile(mark, 'mine');
    const damaged = Buffer.from(packed);
    damaged[packed.length >> 1] = ~(damaged[packed.length >> 1] as number);
    const bad = [
      () => archive.unpack(elsewhere, chunksOf(damaged), hashOf(packed)),
      () => archive.unpack(elsewhere, chunksOf(packed.subarray(0, -100)), hashOf(packed)),
      () => createHomeArchive({ bytes: 5_000 }).unpack(elsewhere, chunksOf(packed), hashOf(packed)),
    ];
    for (const each of bad) await expect(each()).rejects.toThrow();
    expect(await readFile(mark, 'utf8')).toBe('mine');
    await expect(whole(createHomeArchive({ bytes: 5_000 }).pack(here))).rejects.toThrow(
      'The home of a computer has more than 5000 bytes to be saved.',
    );
  });

  it('detects every change since its mark, at any depth and with any file time [STORE-012]', async () => {
    const soon = () => archive.writeMark(here, { name: 'x', epoch: 1 }, new Date());
    await new Promise((resolve) => setTimeout(resolve, 20));
    await soon();
    expect(await archive.hasChanged(here)).toBe(false);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await say(host, here, 'echo two >deep/er/file; touch -d 2001-02-03 deep/er/file deep/er');
    expect(await archive.hasChanged(here)).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await soon();
    expect(await archive.hasChanged(here)).toBe(false);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await say(host, here, 'rm hole');
    expect(await archive.hasChanged(here)).toBe(true);
  });

  it('of a backup is unpacked in a sandbox, where no device can be created [HRD-702]', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'vestra-unpack-'));
    try {
      const device = tarOf({ name: './1/home/zero', kind: '3' });
      await expect(unpackHomes(dataDir, Readable.from([device]))).rejects.toThrow(/could not be unpacked/);
      await expect(lstat(join(dataDir, 'computers/1/home/zero'))).rejects.toMatchObject({ code: 'ENOENT' });
      const plain = tarOf({ name: './1/home/file', content: 'kept' }, { name: './1/saved', content: 'mark 1' });
      await unpackHomes(dataDir, Readable.from([plain]));
      expect(await readFile(join(dataDir, 'computers/1/home/file'), 'utf8')).toBe('kept');
      const { uid } = await stat(join(dataDir, 'computers/1'));
      expect(uid).toBe(process.getuid?.());
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});
