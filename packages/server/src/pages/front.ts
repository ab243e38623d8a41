import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileSchemaPath } from '@vestra/contract/schema-line';
import type { Hono } from 'hono';
import { buildOnce, builtPages, readBuilt, sendStatic, staticContent, withSocialPicture } from './static-content.ts';

type FrontLink = { path: string; name: string; words: string };

/** The start page: links to everything, as HTML, or as plain lines for a terminal. */
export const frontPages =
  ({ version, url, folder = builtPages }: { version: string; url: string; folder?: string }) =>
  (app: Hono) => {
    app.get('/', (context) => {
      const places = linksIn(folder);
      if (!context.req.header('accept')?.includes('text/html'))
        return context.text(lines(version, places), 200, headers);
      return context.body(withSocialPicture(page(version, places), url), 200, {
        ...headers,
        'content-type': 'text/html; charset=utf-8',
      });
    });
  };

function linksIn(folder: string): FrontLink[] {
  const console: FrontLink = {
    path: '/console',
    name: 'Console',
    words: 'Sign in, see what your agents do and what they cost, and answer pending requests.',
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
    <meta property="og:title" content="Vestra">
    <meta property="og:description" content="Open platform for hosting AI agents: configure an agent once, run it for every user.">
    <meta property="og:image" content="/brand/social.png">
    <link rel="icon" href="/favicon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="/brand/identity.css">
    <style>
      body {
        margin: 0; min-height: 100dvh; display: grid; place-items: center; background: var(--background);
        color: var(--foreground); font: 1rem/1.6 var(--typeface);
      }
      main { width: min(34rem, 100% - 2.5rem); padding-block: 3rem }
      h1 { display: flex; align-items: center; gap: .75rem; margin: 0; font-size: 2.1rem; font-weight: 680; letter-spacing: -0.022em; line-height: 1.2 }
      p { margin: .4rem 0 2rem; color: var(--quiet) }
      ul { margin: 0; padding: 0; list-style: none }
      .places { border: 1px solid var(--line); border-radius: 1.125rem; background: var(--surface); overflow: hidden }
      .places li + li { border-top: 1px solid var(--line) }
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
      <h1><img alt="" height="40" src="/brand/mark.svg" width="40">Vestra</h1>
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

const headers = {
  'cache-control': 'no-cache',
  vary: 'accept',
  'content-security-policy':
    "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self'; font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

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
