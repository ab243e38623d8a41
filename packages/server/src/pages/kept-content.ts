import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
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
