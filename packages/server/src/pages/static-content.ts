import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gzip, zstdDecompress } from 'node:zlib';
import type { Context, Hono } from 'hono';

/** Content that is the same for everyone, built and compressed once. */
export type StaticContent = {
  mediaType: string;
  bytes: Uint8Array<ArrayBuffer>;
  zipped: Uint8Array<ArrayBuffer>;
  etag: string;
};

const zip = promisify(gzip);

export async function staticContent(content: string | Uint8Array, mediaType: string): Promise<StaticContent> {
  const bytes = new Uint8Array(Buffer.from(content));
  const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
  return { mediaType, bytes, zipped: new Uint8Array(await zip(bytes)), etag };
}

/** Builds on the first call and shares the result. A failed build is tried again. */
export function buildOnce(make: () => Promise<StaticContent>): () => Promise<StaticContent> {
  let kept: Promise<StaticContent> | undefined;
  return async () => {
    kept ??= make();
    return kept.catch((error: unknown) => {
      kept = undefined;
      throw error;
    });
  };
}

/** Sends the content, compressed if the client accepts that, or 304 if the client has it. */
export function sendStatic(context: Context, content: StaticContent, headers: Record<string, string>): Response {
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
export function builtFiles(folder: string): (name: string) => Promise<StaticContent | null> {
  const kept = new Map<string, Promise<StaticContent | null>>();

  /** Cached forever: a changed file has another name. */
  return async (name) => {
    const mediaType = mediaTypes[/\.([a-z0-9]+)$/.exec(name)?.[1] ?? ''];
    if (!mediaType || !/^[\w-][\w.-]*$/.test(name)) return null;
    const known = kept.get(name);
    if (known) return known;
    const read = keepBuilt(join(folder, name), mediaType);
    // Missing names are not cached, or requests for many names would fill the memory.
    if ((await read) !== null) kept.set(name, read);
    return read;
  };
}

const mediaTypes: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  png: 'image/png',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
  woff2: 'font/woff2',
};

async function keepBuilt(path: string, mediaType: string): Promise<StaticContent | null> {
  const bytes = await readBuilt(path).catch(() => null);
  return bytes && staticContent(bytes, mediaType);
}

/** The output of the web build: created by `npm install` in a clone, and part of the package. */
export const builtPages = resolve(import.meta.dirname, '../../../web/dist');

/** Reads a zstd file. Rarely used files are compressed, because everyone installs them. */
export const readPacked = async (file: string): Promise<Buffer> => promisify(zstdDecompress)(await readFile(file));

/** Reads a built file, which the package compresses if it is large. */
export const readBuilt = (file: string): Promise<Buffer> => readFile(file).catch(() => readPacked(`${file}.zst`));

/** A sentence for the operator; null if the pages are built. */
export const missingPages = (folder = builtPages): string | null =>
  existsSync(join(folder, 'session.html'))
    ? null
    : `the session page and the API reference are not built and cannot be shown: install the package vestra, or in a clone run npm install with its development dependencies (looked in ${folder})`;

/** The mark, typeface, colours and social picture, at fixed addresses. Public. */
export function brandFiles(folder = join(builtPages, 'brand')) {
  const fileNamed = builtFiles(folder);

  return (app: Hono) => {
    app.get('/brand/:file', (context) => send(context, context.req.param('file')));
    app.get('/favicon.svg', (context) => send(context, 'mark.svg'));
    // Browsers request it even if no page names it.
    app.get('/favicon.ico', (context) => context.body(null, 204, brandHeaders));
  };

  async function send(context: Context, name: string): Promise<Response> {
    const file = await fileNamed(name);
    return file
      ? sendStatic(context, file, brandHeaders)
      : context.text('There is no such file.\n', 404, missingBrandHeaders);
  }
}

/** A site that shows a link resolves no relative address. */
export const withSocialPicture = (html: string, url: string): string =>
  html.replaceAll('content="/brand/', `content="${url}/brand/`);

const brandHeaders = {
  'cache-control': 'public, max-age=86400',
  'x-content-type-options': 'nosniff',
  // Other sites show the picture of a link.
  'cross-origin-resource-policy': 'cross-origin',
};
const missingBrandHeaders = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
