import { join } from 'node:path';
import type { Hono } from 'hono';
import { builtPages, readPacked } from './built-pages.ts';
import { answerKept, type KeptContent, keepContent } from './kept-content.ts';

type Site = Readonly<Record<string, { mediaType: string; text: string }>>;

/** The guide: every page of `docs/` with the Markdown it was made of, open to everyone who reaches the server. */
export function guidePages(folder = builtPages) {
  let site: Promise<Site> | undefined;
  const kept = new Map<string, Promise<KeptContent>>();

  return (app: Hono) => {
    for (const path of ['/docs/guide', '/docs/guide/*'])
      app.get(path, async (context) => {
        const asked = context.req.path;
        if (asked.endsWith('/')) return context.redirect(asked.replace(/\/+$/, ''), 301);
        const pages = await readSite();
        if (!pages) return context.text(notBuilt, 503, headers);
        if (!Object.hasOwn(pages, asked)) return context.text(noSuchPage, 404, headers);
        return answerKept(context, await contentOf(pages, asked), headers);
      });
  };

  /** Read when somebody asks first; one that could not be read is tried again. */
  async function readSite(): Promise<Site | null> {
    site ??= unpack(join(folder, 'guide.json.zst'));
    return site.catch(() => {
      site = undefined;
      return null;
    });
  }

  /** Of names that are pages alone: there are no more of them than pages. */
  function contentOf(pages: Site, path: string): Promise<KeptContent> {
    const { text = '', mediaType = '' } = pages[path] ?? {};
    const content = kept.get(path) ?? keepContent(text, mediaType);
    kept.set(path, content);
    return content;
  }
}

const unpack = async (file: string): Promise<Site> => JSON.parse((await readPacked(file)).toString());

const notBuilt = 'The guide is not part of the installation. Its pages are in the folder docs of the repository.\n';
const noSuchPage = 'The guide has no such page. It begins at /docs/guide.\n';

const headers = {
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
