import type { Hono } from 'hono';

/** What somebody finds who opens the bare address: the way to the reference. */
export const frontPages =
  ({ version }: { version: string }) =>
  (app: Hono) => {
    app.get('/', (context) => {
      context.header('location', '/docs');
      return context.text(`Vestra ${version}. The API reference is at /docs, the API below /v1.\n`, 302);
    });
    // Every browser asks for one.
    app.get('/favicon.ico', (context) => {
      context.header('cache-control', 'public, max-age=86400');
      return context.body(null, 204);
    });
  };
