import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { z } from 'zod';
import { StartFailure } from '../../platform/db/start-failure.ts';
import { isName } from '../../platform/files/file-store.ts';
import {
  BLOCK,
  endName,
  format,
  homesPart,
  type Manifest,
  manifestName,
  manifestSchema,
  type Opening,
  openingName,
  openingSchema,
  paddingOf,
  readHead,
  savedFolder,
} from './format.ts';
import { findHomesFault } from './homes-check.ts';

type PartsOptions = { isWanted?: (name: string) => boolean; onBytes?: (bytes: number) => void };

export type ArchivePart = { name: string; content: AsyncIterable<Buffer> };

/** Reads the first entry, which describes the archive. */
export async function readOpening(path: string): Promise<Opening> {
  const file = await openArchive(path);
  try {
    const first = await readEntry(file, 0, path).catch(() => null);
    if (first?.name !== openingName) throw notBackup(path);
    const opening = parse(openingSchema, await readWhole(first.content, maxDescriptionBytes), path);
    if (opening.format <= format) return opening;
    throw new StartFailure(
      `The backup ${path} was created by Vestra ${opening.version} in a form that this version cannot read: restore it with ${opening.version} or newer.`,
    );
  } finally {
    await file.close();
  }
}

/**
 * Reads the whole archive and compares it with its hashes. It refuses truncated, changed, missing and surplus parts.
 */
export async function verifyArchive(path: string, onBytes: (bytes: number) => void): Promise<Manifest> {
  const found = new Map<string, { bytes: number; sha256: string }>();
  const files = { count: 0, bytes: 0 };
  let manifestText: Buffer | undefined;
  let end: string | undefined;
  for await (const { name, content } of partsOf(path, { onBytes })) {
    if (end !== undefined) throw damaged(path, 'something follows its end');
    if (!isPartName(name)) throw hostile(path, `no archive has a part with the name ${JSON.stringify(name)}`);
    if (name === manifestName) {
      manifestText = await readWhole(content, maxDescriptionBytes);
      continue;
    }
    if (name === endName) {
      end = (await readWhole(content, maxDescriptionBytes)).toString();
      continue;
    }
    const { bytes, sha256 } = name === homesPart ? await checkHomes(path, content) : await hashOf(content);
    const file = /^files\/[^/]+\/([0-9a-f]{64})$/.exec(name);
    if (!file) {
      found.set(name, { bytes, sha256 });
      continue;
    }
    if (file[1] !== sha256) throw damaged(path, `the content of ${name} is another`);
    files.count += 1;
    files.bytes += bytes;
  }
  if (!manifestText || end === undefined) throw damaged(path, 'its end is missing');
  if (createHash('sha256').update(manifestText).digest('hex') !== end) throw damaged(path, 'its manifest was changed');
  const manifest = parse(manifestSchema, manifestText, path);
  for (const { name, bytes, sha256 } of manifest.parts) {
    const part = found.get(name);
    if (part?.bytes !== bytes || part.sha256 !== sha256) throw damaged(path, `${name} was changed or is missing`);
    found.delete(name);
  }
  const [surplus] = found.keys();
  if (surplus !== undefined) throw damaged(path, `${surplus} does not belong to it`);
  if (files.count !== manifest.files.count || files.bytes !== manifest.files.bytes) {
    throw damaged(path, 'files are missing');
  }
  return manifest;
}

/** A name decides where its content is written, so no other names are accepted. */
const isPartName = (name: string): boolean =>
  [openingName, manifestName, endName, homesPart].includes(name) ||
  /^database\/[A-Za-z0-9_]{1,100}\.copy\.gz$/.test(name) ||
  /^files\/[A-Za-z0-9_-]{1,100}\/[0-9a-f]{64}$/.test(name) ||
  /^homes\/\d{9}\.home$/.test(name) ||
  (new RegExp(`^${savedFolder}/[A-Za-z0-9_-]{1,100}/[^/]+$`).test(name) && isName(name.split('/')[2] as string));

/** Hashes the homes, and refuses those that would be unpacked outside their folders. */
async function checkHomes(path: string, content: AsyncIterable<Buffer>): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  let fault: string | null = null;
  const hashed = async function* () {
    for await (const chunk of content) {
      hash.update(chunk);
      bytes += chunk.byteLength;
      yield chunk;
    }
  };
  const gunzip = createGunzip();
  const passed = pipeline(hashed, gunzip);
  passed.catch(() => {});
  fault = await findHomesFault(gunzip).catch(() => 'the homes of computers cannot be unpacked');
  if (fault !== null) throw hostile(path, fault);
  // The end marker of a tar may be followed by more blocks.
  gunzip.resume();
  await passed.catch(() => {
    throw damaged(path, 'the homes of computers cannot be unpacked');
  });
  return { bytes, sha256: hash.digest('hex') };
}

/** Yields the parts in order, each joined from its pieces. Read each part to its end before asking for the next. */
export async function* partsOf(
  path: string,
  { isWanted = () => true, onBytes = () => {} }: PartsOptions,
): AsyncGenerator<ArchivePart> {
  const file = await openArchive(path);
  try {
    let next = await readEntry(file, 0, path);
    while (next) {
      const first = next;
      const name = partOf(first.name);
      if (!isWanted(name)) {
        next = await readEntry(file, first.end, path);
        continue;
      }
      let after: Entry | null | undefined;
      const content = async function* () {
        for (let entry: Entry | null = first; entry; ) {
          for await (const chunk of entry.content) {
            onBytes(chunk.byteLength);
            yield chunk;
          }
          const following: Entry | null = await readEntry(file, entry.end, path);
          if (following && name !== first.name && partOf(following.name) === name) {
            entry = following;
            continue;
          }
          after = following;
          return;
        }
      };
      yield { name, content: content() };
      if (after === undefined) throw new Error(`The part ${name} of an archive was not read to its end.`);
      next = after;
    }
  } finally {
    await file.close();
  }
}

/** `database/orgs.copy.gz/00001` is a piece of `database/orgs.copy.gz`. */
const partOf = (name: string): string => name.replace(/\/\d{5}$/, '');

type Entry = { name: string; content: AsyncIterable<Buffer>; end: number };

/** Returns null at the end of the archive. */
async function readEntry(file: FileHandle, at: number, path: string): Promise<Entry | null> {
  const head = readHead(await readExactly(file, at, BLOCK, path));
  if (head === null) return null;
  if (head === undefined) throw damaged(path, 'it holds what no backup holds');
  const from = at + BLOCK;
  const content = async function* () {
    for (let done = 0; done < head.size; ) {
      const chunk = await readExactly(file, from + done, Math.min(chunkBytes, head.size - done), path);
      done += chunk.byteLength;
      yield chunk;
    }
  };
  return { name: head.name, content: content(), end: from + head.size + paddingOf(head.size) };
}

const chunkBytes = 256 * 1024;

async function readExactly(file: FileHandle, at: number, length: number, path: string): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  for (let done = 0; done < length; ) {
    const { bytesRead } = await file.read(buffer, done, length - done, at + done);
    if (bytesRead === 0) throw damaged(path, 'its end is missing');
    done += bytesRead;
  }
  return buffer;
}

async function openArchive(path: string): Promise<FileHandle> {
  try {
    const file = await open(path, 'r');
    if ((await file.stat()).isFile()) return file;
    await file.close();
  } catch (error) {
    throw new StartFailure(`The backup ${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
  throw notBackup(path);
}

const notBackup = (path: string) =>
  new StartFailure(`${path} is neither a backup of vestra admin nor an archive of an org.`);

const damaged = (path: string, what: string): StartFailure =>
  new StartFailure(`The archive ${path} is not whole: ${what}. Nothing was changed; write it again.`);

const hostile = (path: string, what: string): StartFailure =>
  new StartFailure(`The archive ${path} is refused: ${what}. Nothing was changed.`);

/** A description that is larger would exhaust the memory. A manifest has a line per table and home. */
const maxDescriptionBytes = 64 * 1024 * 1024;

export async function readWhole(content: AsyncIterable<Buffer>, most = Number.POSITIVE_INFINITY): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.byteLength;
    if (bytes > most)
      throw new StartFailure(`The archive has a description of more than ${most} bytes: it was refused.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function hashOf(content: AsyncIterable<Buffer>): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of content) {
    hash.update(chunk);
    bytes += chunk.byteLength;
  }
  return { bytes, sha256: hash.digest('hex') };
}

function parse<T>(schema: z.ZodType<T>, text: Buffer, path: string): T {
  try {
    return schema.parse(JSON.parse(text.toString()));
  } catch {
    throw damaged(path, 'its description cannot be read');
  }
}
