import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Hono } from 'hono';
import { builtPages } from './built-pages.ts';
import { answerKept, keepContent, madeOnce } from './kept-content.ts';

/** `/embed.js`, which makes `<vestra-session>` known to a page that is not built. The same for everybody, and nobody's secret. */
export function embedScript(folder = builtPages) {
  const kept = madeOnce(async () =>
    keepContent(await readFile(join(folder, 'embed.js')), 'text/javascript; charset=utf-8'),
  );
  return (app: Hono) => {
    app.get('/embed.js', async (context) => {
      const script = await kept().catch(() => null);
      if (!script) return context.text('This script is not available at the moment.\n', 503, headers);
      return answerKept(context, script, headers);
    });
  };
}

const headers = {
  // The address stays when the server is updated: a browser asks whether what it has still holds.
  'cache-control': 'no-cache',
  // A page that isolates itself may load it too.
  'cross-origin-resource-policy': 'cross-origin',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};
