import { ReadableStream as StreamOfChunks } from 'node:stream/web';
import { Failure } from '@vestra/contract/errors';
import type { Context, Hono } from 'hono';
import { acceptsHtml, noticePage } from '../platform/html/notice-page.ts';

type Range = { first: number; last: number };

/** `direct`: a presigned address of the file store, if it has one. */
type Download = {
  filename: string;
  mediaType: string;
  bytes: number | null;
  direct: string | null;
  /** Null if the content was deleted. */
  open: (range?: Range) => Promise<{ bytes: number; chunks: AsyncIterable<Uint8Array> } | null>;
};

type DownloadSource = {
  isGood: (fileId: string, expires: string, signature: string) => boolean;
  /** Null if the file was deleted. */
  find: (fileId: string) => Promise<Download | null>;
};

/**
 * Files behind signed links. Always sent as attachments, so that a browser never shows them as a page of this origin.
 */
export function downloadPages({ isGood, find }: DownloadSource) {
  return (app: Hono) => {
    app.get('/downloads/:file_id', async (context) => {
      const fileId = context.req.param('file_id');
      const { expires = '', signature = '' } = context.req.query();
      try {
        const file = isGood(fileId, expires, signature) ? await find(fileId) : null;
        if (file?.direct) return context.body(null, 302, { ...safe, location: file.direct });
        return (file && (await answer(context, file))) ?? noFile(context);
      } catch (error) {
        if (!(error instanceof Failure) || error.status !== 503) throw error;
        const seconds = Math.ceil((error.details.retry_after_ms ?? 1000) / 1000);
        return context.text(`${error.message}\n`, 503, { ...safe, 'retry-after': String(seconds) });
      }
    });
  };
}

function noFile(context: Context): Response {
  if (!acceptsHtml(context.req.raw.headers)) return context.text('This link is not valid, or no longer.\n', 404, safe);
  const text = 'It is valid for 15 minutes, and only while the file exists. Request a new link where you found it.';
  return noticePage({ status: 404, title: 'This link is not valid, or no longer', text });
}

async function answer(context: Context, file: Download): Promise<Response | null> {
  const range = rangeIn(context.req.header('range'), file.bytes);
  if (range === 'none') {
    return context.body(null, 416, { ...safe, 'content-range': `bytes */${file.bytes}` });
  }
  const opened = await file.open(range ?? undefined);
  if (!opened) return null;
  const { first, last } = range ?? { first: 0, last: opened.bytes - 1 };
  return context.body(StreamOfChunks.from(opened.chunks) as ReadableStream, range ? 206 : 200, {
    ...safe,
    'accept-ranges': 'bytes',
    'content-length': String(last - first + 1),
    ...(range && { 'content-range': `bytes ${first}-${last}/${opened.bytes}` }),
    'content-type': file.mediaType,
    'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(file.filename)}`,
  });
}

/** A single byte range. Null: the whole file, also if the header has several ranges or cannot be read. */
function rangeIn(header: string | undefined, bytes: number | null): Range | 'none' | null {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if ((from === '' && to === '') || bytes === null) return null;
  const first = from === '' ? Math.max(0, bytes - Number(to)) : Number(from);
  const last = from === '' || to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1);
  if (first >= bytes) return 'none';
  return first > last ? null : { first, last };
}

const safe = {
  'cache-control': 'private, no-store',
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};
