import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Hono } from 'hono';
import { acceptsHtml, escapeHtml, noticePage } from '../platform/html/notice-page.ts';
import { buildOnce, builtFiles, builtPages, sendStatic, staticContent } from './static-content.ts';

type SessionPageSource = {
  /** Undefined if there is no such session. */
  embedOriginsOf: (sessionId: string) => Promise<readonly string[] | undefined>;
  /** The folder of the built page. */
  folder?: string;
};

/** The session page and its files, public: the token stays in the fragment of the address and reaches no server. */
export function sessionPages({ embedOriginsOf, folder = builtPages }: SessionPageSource) {
  const assetNamed = builtFiles(join(folder, 'assets'));

  return (app: Hono) => {
    app.get('/session/assets/:file', async (context) => {
      const asset = await assetNamed(context.req.param('file'));
      if (!asset) return context.text('There is no such file.\n', 404, safe('no-store', []));
      // The name changes with the content.
      return sendStatic(context, asset, safe('public, max-age=31536000, immutable', []));
    });

    app.get('/session/:session_id', async (context) => {
      const origins = await embedOriginsOf(context.req.param('session_id'));
      const isBrowser = acceptsHtml(context.req.raw.headers);
      if (!origins)
        return isBrowser
          ? noticePage({ status: 404, ...noSession })
          : context.text(`${noSession.title}.\n`, 404, safe('no-store', []));
      const refused = refusedEmbedder(context.req.raw.headers, new URL(context.req.url).host, origins);
      if (refused !== null) return refusedFrame(refused);
      // The console previews the page at a separate address that no other site may embed.
      const isPreview = context.req.query('preview') !== undefined;
      const headers = safe('no-store', isPreview ? ["'self'"] : origins);
      const page = await readFile(join(folder, 'session.html'), 'utf8').catch(() => null);
      if (page === null)
        return isBrowser ? noticePage({ status: 503, ...notBuilt }) : context.text(`${notBuilt.text}\n`, 503, headers);
      return context.body(page, 200, { ...headers, 'content-type': 'text/html; charset=utf-8' });
    });
  };
}

const noSession = { title: 'There is no such session', text: 'Open the link again, or ask for a new one.' };

/** For end users. The startup log tells the operator what to do. */
const notBuilt = { title: 'Not available', text: 'This page is not available at the moment. Try again later.' };

const safe = (cache: string, origins: readonly string[]) => ({
  'cache-control': cache,
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${origins.length === 0 ? "'none'" : origins.join(' ')}`,
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
});

/**
 * The origin of a page that may not embed this one; null if it may or the browser does not name it. The content
 * security policy blocks the page. This only explains why, instead of an empty frame.
 */
function refusedEmbedder(headers: Headers, ownHost: string, origins: readonly string[]): string | null {
  if (!framed.has(headers.get('sec-fetch-dest') ?? '')) return null;
  const embedder = URL.parse(headers.get('referer') ?? '');
  if (!embedder || embedder.origin === 'null' || embedder.host === ownHost) return null;
  return origins.includes(embedder.origin) ? null : embedder.origin;
}

const framed: ReadonlySet<string> = new Set(['iframe', 'frame', 'embed', 'object']);

const refusedFrame = (embedder: string) =>
  noticePage({
    status: 403,
    title: 'This chat cannot be shown on this site',
    text: `${escapeHtml(embedder)} is not among the origins that may embed it. The operator of the site can add it to the
      <code>allowed_embed_origins</code> of the organisation.`,
    isFramed: true,
  });

/** `/embed.js` defines `<vestra-session>` for pages without a build step. The same for everyone, without secrets. */
export function embedScript(folder = builtPages) {
  const kept = buildOnce(async () =>
    staticContent(await readFile(join(folder, 'embed.js')), 'text/javascript; charset=utf-8'),
  );
  return (app: Hono) => {
    app.get('/embed.js', async (context) => {
      const script = await kept().catch(() => null);
      if (!script) return context.text('This script is not available at the moment.\n', 503, headers);
      return sendStatic(context, script, headers);
    });
  };
}

const headers = {
  // The address does not change with a new version, so browsers must revalidate.
  'cache-control': 'no-cache',
  // Pages with cross-origin isolation may load it too.
  'cross-origin-resource-policy': 'cross-origin',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};
