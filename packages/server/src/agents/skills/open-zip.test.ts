import fc from 'fast-check';
import { strToU8, type Zippable, zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { openZip } from './open-zip.ts';

const bytesOf = (files: Zippable) => Buffer.from(zipSync(files));

async function entriesOf(bytes: Uint8Array, most = 1024) {
  const entries: { path: string; isFolder: boolean; content: string | null }[] = [];
  for await (const { path, isFolder, read } of openZip(bytes)) {
    const content = await read(most);
    entries.push({ path, isFolder, content: content && Buffer.from(content).toString('utf8') });
  }
  return entries;
}

const reasonOf = async (bytes: Uint8Array) => {
  const error = await entriesOf(bytes).then(
    () => null,
    (failure: unknown) => failure,
  );
  return error as { code: string; message: string } | null;
};

/** The position of the n-th header in the directory of a zip. */
const listed = (zip: Buffer, nth = 0) => {
  let at = -1;
  for (let each = 0; each <= nth; each++) at = zip.indexOf(Buffer.from([0x50, 0x4b, 1, 2]), at + 1);
  return at;
};

describe('reading a zip', () => {
  it('yields files and folders in order, deflated or stored', async () => {
    const zip = bytesOf({
      'b.md': strToU8('b'.repeat(500)),
      'a/': new Uint8Array(),
      'a/ü.md': [strToU8('ü'), { level: 0 }],
    });
    expect(await entriesOf(zip)).toEqual([
      { path: 'b.md', isFolder: false, content: 'b'.repeat(500) },
      { path: 'a/', isFolder: true, content: '' },
      { path: 'a/ü.md', isFolder: false, content: 'ü' },
    ]);
  });

  it('passes paths unchecked to the caller', async () => {
    const paths = ['../up', '/root', 'a\\b', 'C:/x', './a'];
    const zip = bytesOf(Object.fromEntries(paths.map((path) => [path, strToU8('x')])));
    expect((await entriesOf(zip)).map(({ path }) => path)).toEqual(paths);
  });

  it('reads UTF-8 names without the flag and names of old zips', async () => {
    for (const [raw, path] of [
      [Buffer.from('é.md'), 'é.md'],
      [Buffer.from([0x82, 0x65, 0x2e, 0x6d, 0x64]), 'ée.md'],
    ] as const) {
      const zip = bytesOf({ [raw.length === 5 ? 'abcde' : 'x']: strToU8('x') });
      raw.copy(zip, listed(zip) + 46);
      zip.writeUInt16LE(0, listed(zip) + 8);
      expect((await entriesOf(zip))[0]?.path).toBe(path);
    }
  });

  it('stops inflating at the limit, whatever size the zip declares', async () => {
    const bomb = bytesOf({ 'bomb.txt': new Uint8Array(32 * 1024 * 1024) });
    const before = process.memoryUsage().arrayBuffers;
    const startedAt = performance.now();
    expect(await entriesOf(bomb)).toEqual([{ path: 'bomb.txt', isFolder: false, content: null }]);
    expect(performance.now() - startedAt).toBeLessThan(1000);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 1024 * 1024);
    bomb.writeUInt32LE(10, listed(bomb) + 24);
    expect((await reasonOf(bomb))?.code).toBe('invalid_zip');
  });

  it('returns content of exactly the limit', async () => {
    const zip = bytesOf({ a: new Uint8Array(100).fill(65) });
    expect((await entriesOf(zip, 100))[0]?.content).toHaveLength(100);
    expect((await entriesOf(zip, 99))[0]?.content).toBeNull();
  });
});

describe('refusing a zip', () => {
  it.each([
    ['a symbolic link', 0o120777],
    ['a device', 0o020600],
    ['a named pipe', 0o010600],
  ])('%s', async (_what, mode) => {
    const zip = bytesOf({ link: [strToU8('/etc/passwd'), { os: 3, attrs: (mode << 16) >>> 0 }] });
    expect(await reasonOf(zip)).toMatchObject({ code: 'invalid_zip', message: expect.stringContaining('`link`') });
  });

  it('accepts a plain file with Unix permissions', async () => {
    const zip = bytesOf({ 'run.sh': [strToU8('x'), { os: 3, attrs: (0o100755 << 16) >>> 0 }] });
    expect(await reasonOf(zip)).toBeNull();
  });

  it('refuses an encrypted entry', async () => {
    const zip = bytesOf({ secret: strToU8('x'.repeat(100)) });
    zip.writeUInt16LE(zip.readUInt16LE(listed(zip) + 8) | 1, listed(zip) + 8);
    expect(await reasonOf(zip)).toMatchObject({ code: 'invalid_zip', message: expect.stringContaining('encrypted') });
  });

  it('refuses an unknown compression method', async () => {
    const zip = bytesOf({ a: strToU8('x'.repeat(100)) });
    zip.writeUInt16LE(14, listed(zip) + 10);
    expect((await reasonOf(zip))?.code).toBe('invalid_zip');
  });

  it('refuses content with a wrong checksum', async () => {
    const zip = bytesOf({ a: [strToU8('x'.repeat(100)), { level: 0 }] });
    zip.writeUInt8(66, zip.indexOf('xxx'));
    expect(await reasonOf(zip)).toMatchObject({ code: 'invalid_zip', message: expect.stringContaining('checksum') });
  });

  it('refuses a name with the UTF-8 flag that is not UTF-8', async () => {
    const zip = bytesOf({ ab: strToU8('x') });
    zip.writeUInt16LE(0x800, listed(zip) + 8);
    zip.writeUInt8(0xff, listed(zip) + 46);
    expect((await reasonOf(zip))?.code).toBe('invalid_zip');
  });

  it('refuses too many entries', async () => {
    const zip = bytesOf(Object.fromEntries(Array.from({ length: 5001 }, (_, at) => [`d${at}/`, new Uint8Array()])));
    expect(await reasonOf(zip)).toMatchObject({ code: 'invalid_zip', message: expect.stringContaining('5000') });
  });

  it('refuses any other broken zip without another error', async () => {
    const whole = bytesOf({ 'SKILL.md': strToU8('text '.repeat(40)), 'a/b.md': [strToU8('b'), { level: 0 }] });
    const damaged = fc.array(fc.record({ at: fc.nat(whole.length - 1), byte: fc.nat(255) }), {
      minLength: 1,
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(damaged, fc.nat(whole.length), async (changes, cut) => {
        const zip = Buffer.from(whole);
        for (const { at, byte } of changes) zip[at] = byte;
        const failure = await reasonOf(zip.subarray(0, cut % 3 === 0 ? cut : whole.length));
        return failure === null || failure.code === 'invalid_zip';
      }),
      { numRuns: 1500 },
    );
  });
});
