import { crc32 } from 'node:zlib';
import { type Failure, fail } from '@vestra/contract/errors';
import type { Entry, ZipFile } from 'yauzl';

type ZipEntry = {
  /** The size that the zip declares. The content may be larger. */
  declaredBytes: number;
  /** The path in the zip, unchecked: it may have backslashes or climb out of the folder. The caller must check it. */
  path: string;
  isFolder: boolean;
  /** Returns the content, or null if it has, or declares, more than `most` bytes. */
  read: (most: number) => Promise<Uint8Array | null>;
};

/** Yields the entries of a zip in order. Throws `invalid_zip` if the zip is unreadable or holds links or devices. */
export type OpenZip = (bytes: Uint8Array) => AsyncIterable<ZipEntry>;

type Library = typeof import('yauzl');

/** Folders count too. An entry takes only 46 bytes of the zip, so the size of the zip does not limit their number. */
const maxEntries = 5000;

export const openZip: OpenZip = async function* (bytes) {
  const library = await import('yauzl');
  const zip = await orRefuse(
    // Names are decoded here, because the library's errors for invalid names do not say which entry.
    library.fromBufferPromise(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), { decodeStrings: false }),
  );
  const entries = zip.eachEntry();
  for (let count = 1; ; count++) {
    const { value: entry, done } = await orRefuse(entries.next());
    if (done) return;
    if (count > maxEntries) throw refused(`it has more than ${maxEntries} entries`);
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

/** Many programs write UTF-8 names without the flag. Only a name that is not UTF-8 is in the legacy character set. */
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

/** Zips from Unix have the file mode in the upper half of the attributes. Others have 0 there. */
function kindOf({ externalFileAttributes }: Entry, path: string): 'file' | 'folder' | 'other' {
  const mode = (externalFileAttributes >>> 16) & 0o170000;
  if (mode !== 0 && mode !== 0o100000 && mode !== 0o040000) return 'other';
  return path.endsWith('/') || mode === 0o040000 ? 'folder' : 'file';
}

async function read(zip: ZipFile, entry: Entry, most: number): Promise<Uint8Array | null> {
  // An entry that declares too large a size is not inflated. One that holds more than it declares is cut off below.
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

/** Turns every error of the library into `invalid_zip`. */
async function orRefuse<Result>(work: Promise<Result>): Promise<Result> {
  return work.catch((error: Error) => {
    throw refused(error.message.toWellFormed().slice(0, 200));
  });
}

const refused = (reason: string): Failure => fail('invalid_zip', { message: `The zip cannot be read: ${reason}.` });
