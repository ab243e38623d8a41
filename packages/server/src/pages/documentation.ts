import { join } from 'node:path';
import type { Hono } from 'hono';
import { buildOnce, builtPages, readPacked, type StaticContent, sendStatic, staticContent } from './static-content.ts';

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Vestra API reference</title>
    <link rel="icon" href="/favicon.svg" type="image/svg+xml">
    <style>
      body { margin: 0; }
      a[href^="https://redocly.com"] { display: none; }
      .places { display: flex; gap: 1.25rem; padding: .8rem 1.5rem; border-bottom: 1px solid #e4e2de; font: .9rem/1.5 ui-sans-serif, system-ui, sans-serif; }
      .places a { color: #5f5b54; text-decoration: none; }
      .places a[aria-current], .places a:hover { color: #24211d; }
      .places a:first-child { font-weight: 650; color: #24211d; }
    </style>
  </head>
  <body>
    <nav class="places" aria-label="Vestra"><a href="/">Vestra</a><a href="/docs/guide">Guide</a><a href="/docs" aria-current="true">API reference</a><a href="/console">Console</a></nav>
    <main id="reference"></main>
    <script type="module" src="/docs/start.js"></script>
  </body>
</html>
`;

/** Loads nothing from other hosts: no font, telemetry or script. */
const start = `import { init } from '/docs/reference.js';

init('/v1/openapi.json', { disableTelemetry: true }, document.querySelector('#reference'));
`;

/** Served if the pages are not built. The startup log says how to build them. */
const notBuilt = `export function init(url, _options, element) {
  element.textContent = 'This page is not part of the installation. The document it would show is at ' + url + '.';
}
`;

/** The API reference and its OpenAPI document, public. */
export function referencePages({ version, url }: { version: string; url: string }) {
  const pages: Record<string, () => Promise<StaticContent>> = {
    // Loaded on the first request, so that startup need not wait for descriptions and examples.
    '/v1/openapi.json': async () => {
      const { openapi } = await import('@vestra/contract/derive/openapi');
      return staticContent(JSON.stringify(openapi({ version, url })), 'application/json; charset=utf-8');
    },
    '/docs': () => staticContent(page, 'text/html; charset=utf-8'),
    '/docs/start.js': () => staticContent(start, javascript),
    '/docs/reference.js': async () =>
      staticContent(await readPacked(join(builtPages, 'reference.js.zst')).catch(() => notBuilt), javascript),
  };

  return (app: Hono) => {
    app.get('/docs/', (context) => context.redirect('/docs', 301));
    for (const [path, make] of Object.entries(pages)) {
      const kept = buildOnce(make);
      app.get(path, async (context) => sendStatic(context, await kept(), headers));
    }
  };
}

const javascript = 'text/javascript; charset=utf-8';

const headers = {
  'cache-control': 'no-cache',
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

type Site = Readonly<Record<string, { mediaType: string; text: string }>>;

/** The guide: every page of `docs/` with its Markdown, public. */
export function guidePages(folder = builtPages) {
  let site: Promise<Site> | undefined;
  const kept = new Map<string, Promise<StaticContent>>();

  return (app: Hono) => {
    for (const path of ['/docs/guide', '/docs/guide/*'])
      app.get(path, async (context) => {
        const asked = context.req.path;
        if (asked.endsWith('/')) return context.redirect(asked.replace(/\/+$/, ''), 301);
        const pages = await readSite();
        if (!pages) return context.text(guideNotBuilt, 503, guideHeaders);
        if (!Object.hasOwn(pages, asked)) return context.text(noSuchPage, 404, guideHeaders);
        return sendStatic(context, await contentOf(pages, asked), guideHeaders);
      });
  };

  /** Reads on the first request, and again after a failure. */
  async function readSite(): Promise<Site | null> {
    site ??= unpack(join(folder, 'guide.json.zst'));
    return site.catch(() => {
      site = undefined;
      return null;
    });
  }

  /** Caches only existing pages, so that the cache stays bounded. */
  function contentOf(pages: Site, path: string): Promise<StaticContent> {
    const { text = '', mediaType = '' } = pages[path] ?? {};
    const content = kept.get(path) ?? staticContent(text, mediaType);
    kept.set(path, content);
    return content;
  }
}

const unpack = async (file: string): Promise<Site> => JSON.parse((await readPacked(file)).toString());

const guideNotBuilt =
  'The guide is not part of the installation. Its pages are in the folder docs of the repository.\n';
const noSuchPage = 'The guide has no such page. It begins at /docs/guide.\n';

const guideHeaders = {
  'cache-control': 'no-cache',
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};
