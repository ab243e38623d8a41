import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { openapi } from '@vestra/contract/derive/openapi';
import type { Hono } from 'hono';
import { answerKept, type KeptContent, keepContent, madeOnce } from './kept-content.ts';

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
  const scriptPath = () => require.resolve('@scalar/api-reference').replace(/dist.*$/, 'dist/browser/standalone.js');
  const pages: Record<string, () => Promise<KeptContent>> = {
    '/v1/openapi.json': () => keepContent(JSON.stringify(openapi({ version, url })), 'application/json; charset=utf-8'),
    '/docs': () => keepContent(page, 'text/html; charset=utf-8'),
    '/docs/start.js': () => keepContent(start, javascript),
    '/docs/reference.js': async () => keepContent(await readFile(scriptPath()), javascript),
  };

  return (app: Hono) => {
    for (const [path, make] of Object.entries(pages)) {
      const kept = madeOnce(make);
      app.get(path, async (context) => answerKept(context, await kept(), headers));
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
