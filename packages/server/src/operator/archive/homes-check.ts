import type { Readable } from 'node:stream';
import { BLOCK, emptyBlock, paddingOf } from './format.ts';

/** Names and other texts in a tar are far shorter. A longer one would only fill the memory. */
const maxTextBytes = 64 * 1024;

/** Kinds of entries by tar: files, folders, links and pipes, which a user can create in a home. */
const kinds: Readonly<
  Record<string, 'file' | 'folder' | 'link' | 'symlink' | 'name' | 'linkName' | 'fields' | 'skip'>
> = {
  '\0': 'file',
  '0': 'file',
  '7': 'file',
  S: 'file',
  '6': 'file',
  '1': 'link',
  '2': 'symlink',
  '5': 'folder',
  L: 'name',
  K: 'linkName',
  x: 'fields',
  g: 'skip',
};

/**
 * Reads the headers of a tar with homes before anything is unpacked. Returns what is wrong: a name that leads out of the
 * folder of its computer, a device, or a link instead of such a folder. Returns null if all is well.
 */
export async function findHomesFault(tar: Readable): Promise<string | null> {
  const read = readerOf(tar);
  let names: { name?: string; linkName?: string } = {};
  for (;;) {
    const head = await read(BLOCK);
    if (head === null || head.equals(emptyBlock)) return null;
    const kind = kinds[head.toString('latin1', 156, 157)];
    const size = sizeIn(head);
    if (size === null) return 'the homes of computers are no tar';
    const said = names.name ?? nameIn(head);
    if (kind === undefined) return `the homes of computers hold ${quoted(said)}, which is no file, folder or link`;
    // The map of a sparse file continues in further blocks.
    let more = head.toString('latin1', 156, 157) === 'S' && head[482] === 1;
    while (more) more = ((await read(BLOCK))?.[504] ?? 0) === 1;
    if (kind === 'name' || kind === 'linkName' || kind === 'fields') {
      if (size > maxTextBytes) return 'the homes of computers are no tar';
      const text = (await read(size + paddingOf(size)))?.toString('utf8', 0, size) ?? '';
      names = { ...names, ...(kind === 'fields' ? fieldsOf(text) : { [kind]: text.replace(/\0+$/, '') }) };
      continue;
    }
    if (kind !== 'skip') {
      const fault = faultOf(kind, said, names.linkName ?? textIn(head, 157, 100));
      if (fault !== null) return fault;
      names = {};
    }
    if (kind === 'file' || kind === 'skip') await read.skip(size + paddingOf(size));
  }
}

function faultOf(kind: 'file' | 'folder' | 'link' | 'symlink', name: string, target: string): string | null {
  const leaves = (path: string) => path.startsWith('/') || path.split('/').includes('..');
  if (leaves(name)) return `the name ${quoted(name)} in the homes of computers leads out of them`;
  const steps = name.split('/').filter((step) => step !== '' && step !== '.');
  // `7`, `7/home` and `7/browser` are folders of the server. Everything below belongs to the user.
  if (kind !== 'folder' && kind !== 'file' && steps.length < 3)
    return `${quoted(name)} in the homes of computers is a link, and must be a folder`;
  if (kind !== 'link') return null;
  const [owner] = target.split('/').filter((step) => step !== '' && step !== '.');
  return leaves(target) || owner !== steps[0]
    ? `the link ${quoted(name)} in the homes of computers leads to another computer`
    : null;
}

const quoted = (name: string) => JSON.stringify(name.slice(0, 200));

function nameIn(head: Buffer): string {
  const prefix = head.toString('latin1', 257, 263) === 'ustar\0' ? textIn(head, 345, 155) : '';
  const name = textIn(head, 0, 100);
  return prefix === '' ? name : `${prefix}/${name}`;
}

function textIn(head: Buffer, from: number, length: number): string {
  const field = head.subarray(from, from + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end === -1 ? length : end);
}

/** GNU tar writes large sizes as binary numbers. */
function sizeIn(head: Buffer): number | null {
  if (head[124] === 0x80) return Number(head.readBigUInt64BE(128));
  const text = textIn(head, 124, 12).trim();
  return /^[0-7]*$/.test(text) ? Number.parseInt(text || '0', 8) : null;
}

/** The records `27 path=…\n` of the POSIX format. */
function fieldsOf(text: string): { name?: string; linkName?: string } {
  const value = (key: string) => new RegExp(`(?:^|\\n)\\d+ ${key}=([^\\n]*)`).exec(text)?.[1];
  const name = value('GNU\\.sparse\\.name') ?? value('path');
  const linkName = value('linkpath');
  return { ...(name !== undefined && { name }), ...(linkName !== undefined && { linkName }) };
}

type Reader = ((bytes: number) => Promise<Buffer | null>) & { skip: (bytes: number) => Promise<void> };

/** Reads a fixed number of bytes at a time. Returns null if the stream ends before. */
function readerOf(stream: Readable): Reader {
  const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let held: Buffer = Buffer.alloc(0);
  const read = async (bytes: number): Promise<Buffer | null> => {
    const pieces: Buffer[] = [];
    for (let missing = bytes; missing > 0; ) {
      if (held.length === 0) {
        const { done, value } = await chunks.next();
        if (done) return null;
        held = value;
      }
      const piece = held.subarray(0, missing);
      pieces.push(piece);
      held = held.subarray(piece.length);
      missing -= piece.length;
    }
    return Buffer.concat(pieces);
  };
  const skip = async (bytes: number): Promise<void> => {
    for (let missing = bytes; missing > 0; ) {
      if (held.length === 0) {
        const { done, value } = await chunks.next();
        if (done) return;
        held = value;
      }
      const passed = Math.min(missing, held.length);
      held = held.subarray(passed);
      missing -= passed;
    }
  };
  return Object.assign(read, { skip });
}
