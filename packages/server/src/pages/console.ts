import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context, Hono } from 'hono';
import { builtFiles, builtPages, sendStatic, withSocialPicture } from './static-content.ts';

/** The console: one page for every address below `/console`. It contains no data and calls the API. */
export function consolePages({ url, folder = join(builtPages, 'console') }: { url: string; folder?: string }) {
  const assetNamed = builtFiles(join(folder, 'assets'));

  return (app: Hono) => {
    app.get('/console/assets/:file', async (context) => {
      const asset = await assetNamed(context.req.param('file'));
      if (!asset) return context.text('There is no such file.\n', 404, safe('no-store', null));
      // The name changes with the content.
      return sendStatic(context, asset, safe('public, max-age=31536000, immutable', null));
    });
    app.get('/console', page);
    app.get('/console/*', page);
  };

  async function page(context: Context): Promise<Response> {
    const html = await readFile(join(folder, 'console.html'), 'utf8').catch(() => null);
    if (html === null) return context.text(notBuilt, 503, safe('no-store', null));
    const nonce = randomBytes(16).toString('base64');
    const headers = safe('no-store', nonce, scriptsWithin(html));
    const shown = withSocialPicture(html, url)
      .replaceAll('./assets/', `${wayToConsole(context.req.path)}assets/`)
      .replace('nonce=""', `nonce="${nonce}"`)
      // The page cannot read the cookie. Without one it need not ask for a session, which would be a 401.
      .replace('<html ', hasSession(context) ? '<html ' : '<html data-signed-out="" ');
    return context.body(shown, 200, { ...headers, 'content-type': 'text/html; charset=utf-8' });
  }
}

const hasSession = (context: Context) => context.req.header('cookie')?.includes('vestra_console=') ?? false;

/** The relative path to `/console/`, so that the console also works below a path of a larger site. */
function wayToConsole(path: string): string {
  const below = path.split('/').slice(2);
  return below.length === 0 ? './console/' : '../'.repeat(below.length - 1) || './';
}

/** Hashes of the built inline scripts, so that no injected script runs. */
const scriptsWithin = (html: string): string[] =>
  [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );

const notBuilt = 'The console is not part of this installation. The log of the start says how to add it.\n';

/** Allows only our scripts and the built inline script. The editor and dialogs add styles, which carry the nonce. */
const safe = (cache: string, nonce: string | null, scripts: readonly string[] = []) => ({
  'cache-control': cache,
  'content-security-policy': [
    "default-src 'none'",
    ["script-src 'self'", ...scripts].join(' '),
    `style-src 'self'${nonce === null ? '' : ` 'nonce-${nonce}'`}`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
});
