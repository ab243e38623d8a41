import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileSchemaPath } from '@vestra/contract/schema-line';
import type { Hono } from 'hono';
import { buildOnce, builtPages, readBuilt, sendStatic, staticContent } from './static-content.ts';

type FrontLink = { path: string; name: string; words: string };

/** The start page: links to everything, as HTML, or as plain lines for a terminal. */
export const frontPages =
  ({ version, folder = builtPages }: { version: string; folder?: string }) =>
  (app: Hono) => {
    app.get('/', (context) => {
      const places = linksIn(folder);
      if (!context.req.header('accept')?.includes('text/html'))
        return context.text(lines(version, places), 200, headers);
      return context.body(page(version, places), 200, { ...headers, 'content-type': 'text/html; charset=utf-8' });
    });
    app.get('/favicon.svg', (context) =>
      context.body(icon, 200, { ...iconHeaders, 'content-type': 'image/svg+xml', 'x-content-type-options': 'nosniff' }),
    );
    // Browsers request it even if no page names it.
    app.get('/favicon.ico', (context) => context.body(null, 204, iconHeaders));
  };

function linksIn(folder: string): FrontLink[] {
  const console: FrontLink = {
    path: '/console',
    name: 'Console',
    words: 'Sign in, see what your agents do and what they cost, answer what waits.',
  };
  return [
    {
      path: '/docs/guide/getting-started',
      name: 'Getting started',
      words: 'An agent that calls your own functions, from an empty folder, in ten minutes.',
    },
    {
      path: '/docs/guide',
      name: 'Guide',
      words: 'Everything there is, one page each: conversations, approvals, money, tests, running it.',
    },
    { path: '/docs', name: 'API reference', words: 'Every route with its fields, answers and errors.' },
    ...(existsSync(join(folder, 'console/console.html')) ? [console] : []),
    {
      path: '/docs/guide/embedding',
      name: 'A chat for your users',
      words: 'The page of a session, linked or inside your own site.',
    },
  ];
}

const documents: FrontLink[] = [
  { path: '/llms.txt', name: 'llms.txt', words: 'for assistants that write code' },
  { path: '/v1/openapi.json', name: 'openapi.json', words: 'for generators' },
  { path: '/v1/health', name: 'health', words: 'for monitors' },
];

const lines = (version: string, places: readonly FrontLink[]) =>
  `Vestra ${version}. The API is below /v1.\n\n${[...places, ...documents].map(({ path, words }) => `  ${path.padEnd(30)}${words}\n`).join('')}`;

const page = (version: string, places: readonly FrontLink[]) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Vestra</title>
    <link rel="icon" href="/favicon.svg" type="image/svg+xml">
    <style>
      :root {
        color-scheme: light dark;
        --background: light-dark(oklch(0.989 0.003 90), oklch(0.185 0.005 80));
        --foreground: light-dark(oklch(0.24 0.008 80), oklch(0.93 0.005 90));
        --card: light-dark(oklch(1 0 0), oklch(0.225 0.006 80));
        --quiet: light-dark(oklch(0.5 0.012 80), oklch(0.72 0.01 85));
        --border: light-dark(oklch(0.905 0.006 90), oklch(0.32 0.007 80));
        --accent: light-dark(oklch(0.5 0.14 258), oklch(0.76 0.11 258));
      }
      body {
        margin: 0; min-height: 100dvh; display: grid; place-items: center; background: var(--background);
        color: var(--foreground); font: 1rem/1.6 ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
      }
      main { width: min(34rem, 100% - 2.5rem); padding-block: 3rem }
      h1 { margin: 0; font-size: 2.1rem; font-weight: 680; letter-spacing: -0.022em; line-height: 1.2 }
      p { margin: .4rem 0 2rem; color: var(--quiet) }
      ul { margin: 0; padding: 0; list-style: none }
      .places { border: 1px solid var(--border); border-radius: 1.125rem; background: var(--card); overflow: hidden }
      .places li + li { border-top: 1px solid var(--border) }
      .places a { display: block; padding: .85rem 1.25rem; color: inherit; text-decoration: none }
      .places strong { display: block; font-weight: 600 }
      .places a:hover strong { color: var(--accent) }
      .places span, .documents { color: var(--quiet); font-size: .9rem }
      .documents { display: flex; flex-wrap: wrap; gap: .3rem 1.5rem; margin-top: 1.5rem }
      .documents a { color: var(--accent) }
      :focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; border-radius: .4rem }
    </style>
  </head>
  <body>
    <main>
      <h1>Vestra</h1>
      <p>Version ${version} is running here. The API is below <code>/v1</code>.</p>
      <ul class="places">
        ${places.map(({ path, name, words }) => `<li><a href="${path}"><strong>${name}</strong><span>${words}</span></a></li>`).join('\n        ')}
      </ul>
      <ul class="documents">
        ${documents.map(({ path, name, words }) => `<li><a href="${path}">${name}</a> ${words}</li>`).join('\n        ')}
      </ul>
    </main>
  </body>
</html>
`;

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#3b62b5"/><path d="M8.5 9.5 16 23l7.5-13.5" fill="none" stroke="#fff" stroke-width="3.2" stroke-linecap="round" stroke-linejoin="round"/></svg>`;

const headers = {
  'cache-control': 'no-cache',
  vary: 'accept',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

const iconHeaders = { 'cache-control': 'public, max-age=86400' };

/**
 * Public files for programs: the JSON schema of the deployment file, and texts for language models
 * (https://llmstxt.org).
 */
export function pagesForPrograms({ version, url }: { version: string; url: string }, folder = builtPages) {
  const pages = {
    [fileSchemaPath]: async () => {
      const { fileSchema } = await import('@vestra/contract/derive/file-schema');
      return staticContent(JSON.stringify(fileSchema(version)), 'application/schema+json; charset=utf-8');
    },
    '/llms.txt': () => text('llms.txt'),
    '/llms-full.txt': () => text('llms-full.txt'),
  };
  const text = async (name: string) => {
    const written = await readBuilt(join(folder, name)).then(String, () => notBuilt);
    return staticContent(written.replaceAll('](/', `](${url}/`), 'text/plain; charset=utf-8');
  };

  return (app: Hono) => {
    for (const [path, make] of Object.entries(pages)) {
      const kept = buildOnce(make);
      app.get(path, async (context) => sendStatic(context, await kept(), programHeaders));
    }
  };
}

/** Served if the pages are not built. The startup log says how to build them. */
const notBuilt = `# Vestra

> An open platform for hosting AI agents.

- [OpenAPI](/v1/openapi.json): every operation, field, event and error, described
`;

const programHeaders = {
  'cache-control': 'public, max-age=300',
  // An editor in a browser fetches the schema from another origin.
  'access-control-allow-origin': '*',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};
