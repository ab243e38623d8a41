import { join } from 'node:path';
import type { Context, Hono } from 'hono';
import { builtFiles, builtPages, sendStatic } from './static-content.ts';

/** The mark, typeface, colours and social picture, at fixed addresses. Public. */
export function brandFiles(folder = join(builtPages, 'brand')) {
  const fileNamed = builtFiles(folder);

  return (app: Hono) => {
    app.get('/brand/:file', (context) => send(context, context.req.param('file')));
    app.get('/favicon.svg', (context) => send(context, 'mark.svg'));
    // Browsers request it even if no page names it.
    app.get('/favicon.ico', (context) => context.body(null, 204, headers));
  };

  async function send(context: Context, name: string): Promise<Response> {
    const file = await fileNamed(name);
    return file ? sendStatic(context, file, headers) : context.text('There is no such file.\n', 404, missing);
  }
}

/** A site that shows a link resolves no relative address. */
export const withSocialPicture = (html: string, url: string): string =>
  html.replaceAll('content="/brand/', `content="${url}/brand/`);

const headers = {
  'cache-control': 'public, max-age=86400',
  'x-content-type-options': 'nosniff',
  // Other sites show the picture of a link.
  'cross-origin-resource-policy': 'cross-origin',
};
const missing = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
