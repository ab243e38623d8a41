import { join } from 'node:path';
import { fileSchemaPath } from '@vestra/contract/schema-line';
import type { Hono } from 'hono';
import { builtPages, readBuilt } from './built-pages.ts';
import { answerKept, keepContent, madeOnce } from './kept-content.ts';

/**
 * What programs read of the service, open to everyone who reaches it: the schema of the deployment file for editors, and
 * what language models are told (https://llmstxt.org).
 */
export function pagesForPrograms({ version, url }: { version: string; url: string }, folder = builtPages) {
  const pages = {
    [fileSchemaPath]: async () => {
      const { fileSchema } = await import('@vestra/contract/derive/file-schema');
      return keepContent(JSON.stringify(fileSchema(version)), 'application/schema+json; charset=utf-8');
    },
    '/llms.txt': () => text('llms.txt'),
    '/llms-full.txt': () => text('llms-full.txt'),
  };
  const text = async (name: string) => {
    const written = await readBuilt(join(folder, name)).then(String, () => notBuilt);
    return keepContent(written.replaceAll('](/', `](${url}/`), 'text/plain; charset=utf-8');
  };

  return (app: Hono) => {
    for (const [path, make] of Object.entries(pages)) {
      const kept = madeOnce(make);
      app.get(path, async (context) => answerKept(context, await kept(), headers));
    }
  };
}

/** Where the pages are not built, which the log of the start tells. */
const notBuilt = `# Vestra

> An open platform for hosting AI agents.

- [OpenAPI](/v1/openapi.json): every operation, field, event and error, described
`;

const headers = {
  'cache-control': 'public, max-age=300',
  // An editor that runs in a browser fetches the schema from a page of another origin.
  'access-control-allow-origin': '*',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};
