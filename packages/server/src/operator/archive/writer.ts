import { createHash } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { StartFailure } from '../../platform/db/start-failure.ts';
import {
  type ArchivePartEntry,
  BLOCK,
  emptyBlock,
  endName,
  type Manifest,
  manifestName,
  type Opening,
  openingName,
  paddingOf,
  writeHead,
} from './format.ts';

export type ArchiveWriter = {
  /** Adds one entry. */
  add: (name: string, bytes: Uint8Array) => Promise<void>;
  /** Adds content of any length, split into the entries `name/00001`, `name/00002`, … */
  addStream: (name: string, content: AsyncIterable<Uint8Array>) => Promise<ArchivePartEntry>;
  /** The size so far, in bytes. */
  size: () => number;
};

/** Larger than most tables, and small enough for memory. */
const pieceBytes = 8 * 1024 * 1024;

/**
 * Writes to a temporary file and renames it when all of it is on the disk, so that a file with the final name is
 * complete. `work` adds the parts and returns the manifest.
 */
export async function writeArchive(
  path: string,
  opening: Opening,
  work: (writer: ArchiveWriter) => Promise<Manifest>,
): Promise<{ manifest: Manifest; size: number }> {
  const partial = `${path}.partial`;
  const file = await openNew(partial);
  try {
    const writer = writerTo(file);
    const first = jsonOf(opening);
    await writer.add(openingName, first);
    const { parts, ...rest } = await work(writer);
    const manifest = {
      ...rest,
      parts: [{ name: openingName, bytes: first.byteLength, sha256: sumOf(first) }, ...parts],
    };
    const text = jsonOf(manifest);
    await writer.add(manifestName, text);
    await writer.add(endName, Buffer.from(sumOf(text)));
    await file.write(Buffer.concat([emptyBlock, emptyBlock]));
    await file.sync();
    await file.close();
    await rename(partial, path);
    await writeThrough(dirname(path));
    return { manifest, size: writer.size() + 2 * BLOCK };
  } catch (error) {
    await file.close().catch(() => {});
    await rm(partial, { force: true });
    throw toStartFailure(error, path);
  }
}

async function openNew(partial: string): Promise<FileHandle> {
  try {
    return await open(partial, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw toStartFailure(error, partial);
    throw new StartFailure(
      `${partial} already exists: another backup is writing it, or one was killed. Delete it if no backup is running.`,
    );
  }
}

function toStartFailure(error: unknown, path: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new StartFailure(`The disk of ${path} is full, so the incomplete file was removed. Choose a larger disk.`);
  }
  const isOfTheDisk = ['ENOENT', 'EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EIO'].includes(code ?? '');
  return isOfTheDisk ? new StartFailure(`${path} cannot be written (${code}): choose another place.`) : error;
}

function writerTo(file: FileHandle): ArchiveWriter {
  let size = 0;
  async function add(name: string, bytes: Uint8Array): Promise<void> {
    const padding = Buffer.alloc(paddingOf(bytes.byteLength));
    const blocks = [writeHead({ name, size: bytes.byteLength }), bytes, padding];
    await writeAll(file, blocks);
    size += blocks.reduce((sum, block) => sum + block.byteLength, 0);
  }
  return {
    add,
    async addStream(name, content) {
      const hash = createHash('sha256');
      let held: Uint8Array[] = [];
      let heldBytes = 0;
      let bytes = 0;
      let number = 0;
      const flush = async () => {
        number += 1;
        await add(`${name}/${String(number).padStart(5, '0')}`, Buffer.concat(held));
        held = [];
        heldBytes = 0;
      };
      for await (const chunk of content) {
        hash.update(chunk);
        bytes += chunk.byteLength;
        held.push(chunk);
        heldBytes += chunk.byteLength;
        if (heldBytes >= pieceBytes) await flush();
      }
      if (heldBytes > 0) await flush();
      return { name, bytes, sha256: hash.digest('hex') };
    },
    size: () => size,
  };
}

/** A single write may accept fewer bytes than it was given. */
async function writeAll(file: FileHandle, blocks: readonly Uint8Array[]): Promise<void> {
  for (const block of blocks) {
    for (let at = 0; at < block.byteLength; ) at += (await file.write(block, at)).bytesWritten;
  }
}

const sumOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

const jsonOf = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value, null, 1)}\n`);

async function writeThrough(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}
