import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gzip, zstdDecompress } from 'node:zlib';
import type { Context } from 'hono';

/** What is the same for everybody who asks: made once, zipped once. Anybody may ask for it as often as they like. */
export type KeptContent = {
  mediaType: string;
  bytes: Uint8Array<ArrayBuffer>;
  zipped: Uint8Array<ArrayBuffer>;
  etag: string;
};

const zip = promisify(gzip);

export async function keepContent(content: string | Uint8Array, mediaType: string): Promise<KeptContent> {
  const bytes = new Uint8Array(Buffer.from(content));
  const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
  return { mediaType, bytes, zipped: new Uint8Array(await zip(bytes)), etag };
}

/** Whoever asks first has it made, and all others get that one; one that could not be made is tried again. */
export function madeOnce(make: () => Promise<KeptContent>): () => Promise<KeptContent> {
  let kept: Promise<KeptContent> | undefined;
  return async () => {
    kept ??= make();
    return kept.catch((error: unknown) => {
      kept = undefined;
      throw error;
    });
  };
}

/** The content, zipped where the reader understands that, or a word that what the reader has still holds. */
export function answerKept(context: Context, content: KeptContent, headers: Record<string, string>): Response {
  const isZipped = /\bgzip\b/.test(context.req.header('accept-encoding') ?? '');
  const told = { ...headers, etag: content.etag, vary: 'accept-encoding' };
  if (context.req.header('if-none-match')?.includes(content.etag)) return context.body(null, 304, told);
  return context.body(isZipped ? content.zipped : content.bytes, 200, {
    ...told,
    'content-type': content.mediaType,
    ...(isZipped && { 'content-encoding': 'gzip' }),
  });
}

/** The files of a built page by name; null for any other name. */
export function builtFiles(folder: string): (name: string) => Promise<KeptContent | null> {
  const kept = new Map<string, Promise<KeptContent | null>>();

  /** Read once: a file that was built anew has another name. */
  return async (name) => {
    const mediaType = mediaTypes[/\.([a-z0-9]+)$/.exec(name)?.[1] ?? ''];
    if (!mediaType || !/^[\w-][\w.-]*$/.test(name)) return null;
    const known = kept.get(name);
    if (known) return known;
    const read = keepBuilt(join(folder, name), mediaType);
    // A name that is not there must not be kept: whoever asks for many would fill the memory.
    if ((await read) !== null) kept.set(name, read);
    return read;
  };
}

const mediaTypes: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
};

async function keepBuilt(path: string, mediaType: string): Promise<KeptContent | null> {
  const bytes = await readBuilt(path).catch(() => null);
  return bytes && keepContent(bytes, mediaType);
}

/** Where the pages are built to: by `npm install` in a clone, and part of the package. */
export const builtPages = resolve(import.meta.dirname, '../../../web/dist');

/** A file that lies packed, since few ever ask for it and everybody installs it. */
export const readPacked = async (file: string): Promise<Buffer> => promisify(zstdDecompress)(await readFile(file));

/** A built file, which the package holds packed where it is large. */
export const readBuilt = (file: string): Promise<Buffer> => readFile(file).catch(() => readPacked(`${file}.zst`));

/** A sentence for the operator; null where the pages are there. */
export const missingPages = (folder = builtPages): string | null =>
  existsSync(join(folder, 'session.html'))
    ? null
    : `the session page and the API reference are not built and cannot be shown: install the package vestra, or in a clone run npm install with its development dependencies (looked in ${folder})`;
