import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { openapi } from '@vestra/contract/derive/openapi';
import type { Hono } from 'hono';

const require = createRequire(import.meta.url);

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
  </head>
  <body>
    <main id="reference"></main>
    <script src="/docs/reference.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

/** Everything is served from here: no font, telemetry or script comes from elsewhere. */
const start = `Scalar.createApiReference('#reference', {
  url: '/v1/openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
});
`;

/** The reference page and the document it reads, open to everyone who reaches the server. */
export function referencePages({ version, url }: { version: string; url: string }) {
  let script: Promise<string> | undefined;
  const readScript = () =>
    readFile(require.resolve('@scalar/api-reference').replace(/dist.*$/, 'dist/browser/standalone.js'), 'utf8');
  const headers = (contentType: string, cache: string) => ({
    'content-type': contentType,
    'cache-control': cache,
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  });

  return (app: Hono) => {
    app.get('/v1/openapi.json', (context) => {
      const document = JSON.stringify(openapi({ version, url }));
      return context.body(document, 200, headers('application/json; charset=utf-8', 'no-store'));
    });
    app.get('/docs', (context) => context.body(page, 200, headers('text/html; charset=utf-8', 'no-store')));
    app.get('/docs/start.js', (context) =>
      context.body(start, 200, headers('text/javascript; charset=utf-8', 'no-store')),
    );
    app.get('/docs/reference.js', async (context) => {
      script ??= readScript();
      return context.body(await script, 200, headers('text/javascript; charset=utf-8', 'public, max-age=3600'));
    });
  };
}
