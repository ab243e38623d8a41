import { crc32 } from 'node:zlib';
import { type Failure, fail } from '@vestra/contract/errors';
import type { Entry, ZipFile } from 'yauzl';

type ZipEntry = {
  /** As the zip says; it may hold more. */
  declaredBytes: number;
  /** As the zip has it, with forward slashes or not, climbing or not: what it may be is the caller's to say. */
  path: string;
  isFolder: boolean;
  /** The content, or null where there is more of it than `most` bytes, by what the zip says or by what is in it. */
  read: (most: number) => Promise<Uint8Array | null>;
};

/** The entries of a zip, in its order. One that cannot be read, or holds what is no plain file, is `invalid_zip`. */
export type OpenZip = (bytes: Uint8Array) => AsyncIterable<ZipEntry>;

type Library = typeof import('yauzl');

/** Folders count too. An entry costs 46 bytes of the zip, so its size alone would allow very many. */
const mostEntries = 5000;

export const openZip: OpenZip = async function* (bytes) {
  const library = await import('yauzl');
  const zip = await orRefuse(
    // Names are decoded here, since the library refuses some with an error that names no path.
    library.fromBufferPromise(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), { decodeStrings: false }),
  );
  const entries = zip.eachEntry();
  for (let count = 1; ; count++) {
    const { value: entry, done } = await orRefuse(entries.next());
    if (done) return;
    if (count > mostEntries) throw refused(`it has more than ${mostEntries} entries`);
    yield open(library, zip, entry);
  }
};

function open(library: Library, zip: ZipFile, entry: Entry): ZipEntry {
  const path = nameOf(library, entry);
  const kind = kindOf(entry, path);
  if (kind === 'other') throw refused(`\`${path}\` is a link or a device, not a file`);
  if (entry.isEncrypted()) throw refused(`\`${path}\` is encrypted`);
  const isFolder = kind === 'folder';
  return { path, isFolder, declaredBytes: entry.uncompressedSize, read: (most) => orRefuse(read(zip, entry, most)) };
}

/** Many programs write names in UTF-8 without saying so; only what is none is in the character set of old zips. */
function nameOf(library: Library, { generalPurposeBitFlag, fileNameRaw, extraFields }: Entry): string {
  const name = library.getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, true);
  if (extraFields.some(({ id }) => id === unicodePathField)) return name;
  try {
    return utf8.decode(fileNameRaw);
  } catch {
    if (generalPurposeBitFlag & utf8Flag) throw refused('the name of an entry is not UTF-8');
    return name;
  }
}

const unicodePathField = 0x7075;
const utf8Flag = 0x800;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Zips from Unix carry the file's mode in the upper half of its attributes; others leave it 0. */
function kindOf({ externalFileAttributes }: Entry, path: string): 'file' | 'folder' | 'other' {
  const mode = (externalFileAttributes >>> 16) & 0o170000;
  if (mode !== 0 && mode !== 0o100000 && mode !== 0o040000) return 'other';
  return path.endsWith('/') || mode === 0o040000 ? 'folder' : 'file';
}

async function read(zip: ZipFile, entry: Entry, most: number): Promise<Uint8Array | null> {
  // Nothing is inflated of what says itself that it is too large; what says less than it holds is cut off below.
  if (entry.uncompressedSize > most) return null;
  const stream = await zip.openReadStreamPromise(entry);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    // Leaving the loop destroys the stream, so the rest is never inflated.
    if (size > most) return null;
    chunks.push(chunk);
  }
  const content = Buffer.concat(chunks);
  if (crc32(content) !== entry.crc32) throw new Error('the checksum of an entry does not fit');
  return content;
}

/** Whatever the library finds wrong is wrong with the zip. */
async function orRefuse<Result>(work: Promise<Result>): Promise<Result> {
  return work.catch((error: Error) => {
    throw refused(error.message.toWellFormed().slice(0, 200));
  });
}

const refused = (reason: string): Failure => fail('invalid_zip', { message: `The zip cannot be read: ${reason}.` });
