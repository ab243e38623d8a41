import { join } from 'node:path';
import type { Hono } from 'hono';
import {
  buildOnce,
  builtPages,
  readPacked,
  type StaticContent,
  sendStatic,
  staticContent,
  withSocialPicture,
} from './static-content.ts';

/** The OpenAPI document, public. */
export function openapiDocument({ version, url }: { version: string; url: string }) {
  // Loaded on the first request, so that startup need not wait for descriptions and examples.
  const kept = buildOnce(async () => {
    const { openapi } = await import('@vestra/contract/derive/openapi');
    return staticContent(JSON.stringify(openapi({ version, url })), 'application/json; charset=utf-8');
  });
  return (app: Hono) => {
    app.get('/v1/openapi.json', async (context) => sendStatic(context, await kept(), headers));
  };
}

type Site = Readonly<Record<string, { mediaType: string; text: string; encoding?: 'base64' }>>;

/** The guide, which is every page of `docs/` with its Markdown, and the API reference. Both are public. */
export function guidePages({ url, folder = builtPages }: { url: string; folder?: string }) {
  let site: Promise<Site> | undefined;
  const kept = new Map<string, Promise<StaticContent>>();

  return (app: Hono) => {
    for (const path of ['/docs', '/docs/', '/docs/reference.js', '/docs/api/*', '/docs/guide', '/docs/guide/*'])
      app.get(path, async (context) => {
        const asked = context.req.path;
        if (asked.endsWith('/')) return context.redirect(asked.replace(/\/+$/, ''), 301);
        const pages = await readSite();
        if (!pages) return context.text(guideNotBuilt, 503, headers);
        if (!Object.hasOwn(pages, asked)) return context.text(noSuchPage, 404, headers);
        return sendStatic(context, await contentOf(pages, asked), headers);
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
    const { text = '', mediaType = '', encoding } = pages[path] ?? {};
    const content =
      kept.get(path) ?? staticContent(encoding ? Buffer.from(text, encoding) : withSocialPicture(text, url), mediaType);
    kept.set(path, content);
    return content;
  }
}

const unpack = async (file: string): Promise<Site> => JSON.parse((await readPacked(file)).toString());

const guideNotBuilt =
  'Guide and reference are not part of the installation. Their pages are in the folder docs of the repository.\n';
const noSuchPage = 'There is no such page. The guide starts at /docs/guide, the API reference at /docs.\n';

const headers = {
  'cache-control': 'no-cache',
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};
