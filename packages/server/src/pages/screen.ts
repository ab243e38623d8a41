import type { Hono } from 'hono';

/** Null if the credential does not open the screen. */
export type ScreenStream = (sessionId: string, credential: string, signal: AbortSignal) => Promise<Response | null>;

/** Origins whose pages may follow it, besides the server's. */
type EmbedOriginsOf = (sessionId: string) => Promise<readonly string[] | undefined>;

/** Streams a screen by the credential from `GET /v1/sessions/{id}/screen`, which needs no header. */
export function screenPages(open: ScreenStream, embedOriginsOf: EmbedOriginsOf) {
  return (app: Hono) => {
    app.get('/screens/:session_id', async (context) => {
      // A HEAD request would open a stream that no one reads.
      if (context.req.method === 'HEAD') return context.body(null, 405, { ...safe, allow: 'GET' });
      const { preview_token = '' } = context.req.query();
      const stream = await open(context.req.param('session_id'), preview_token, context.req.raw.signal);
      if (!stream) return context.text('This address is not valid, or no longer.\n', 404, safe);
      for (const [name, value] of Object.entries(safe)) stream.headers.set(name, value);
      const origin = context.req.header('origin');
      if (origin && (await embedOriginsOf(context.req.param('session_id')))?.includes(origin)) {
        stream.headers.set('access-control-allow-origin', origin);
      }
      return stream;
    });
  };
}

const safe = {
  'cache-control': 'no-store',
  vary: 'Origin',
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};
