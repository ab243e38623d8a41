import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Hono } from 'hono';
import { builtFiles } from './built-files.ts';
import { builtPages } from './built-pages.ts';
import { answerKept } from './kept-content.ts';
import { refusedEmbedder, refusedFrame, refusedFrameHeaders } from './refused-frame.ts';

export type SessionPageSource = {
  /** Undefined where there is no such session. */
  embedOriginsOf: (sessionId: string) => Promise<readonly string[] | undefined>;
  /** Where the page was built to. */
  folder?: string;
};

/** The page of a session and its files, open to everyone: the token stays in the fragment and reaches no server. */
export function sessionPages({ embedOriginsOf, folder = builtPages }: SessionPageSource) {
  const assetNamed = builtFiles(join(folder, 'assets'));

  return (app: Hono) => {
    app.get('/session/assets/:file', async (context) => {
      const asset = await assetNamed(context.req.param('file'));
      if (!asset) return context.text('There is no such file.\n', 404, safe('no-store', []));
      // The name changes with the content.
      return answerKept(context, asset, safe('public, max-age=31536000, immutable', []));
    });

    app.get('/session/:session_id', async (context) => {
      const origins = await embedOriginsOf(context.req.param('session_id'));
      if (!origins) return context.text('There is no such session.\n', 404, safe('no-store', []));
      const refused = refusedEmbedder(context.req.raw.headers, new URL(context.req.url).host, origins);
      if (refused !== null) return context.body(refusedFrame(refused), 403, refusedFrameHeaders);
      // The console shows the page at an address of its own, which nobody else may embed.
      const isPreview = context.req.query('preview') !== undefined;
      const headers = safe('no-store', isPreview ? ["'self'"] : origins);
      const page = await readFile(join(folder, 'session.html'), 'utf8').catch(() => null);
      if (page === null) return context.text(notBuilt, 503, headers);
      return context.body(page, 200, { ...headers, 'content-type': 'text/html; charset=utf-8' });
    });
  };
}

/** For a customer: what the operator has to do is in the log of the start. */
const notBuilt = 'This page is not available at the moment. Try again later.\n';

const safe = (cache: string, origins: readonly string[]) => ({
  'cache-control': cache,
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${origins.length === 0 ? "'none'" : origins.join(' ')}`,
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
});
