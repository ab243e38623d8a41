/**
 * The origin of a page that embeds this one and may not; null where it may, or where the browser does not say. What keeps
 * the page from being shown is its policy: this is only to say why, in place of an empty frame.
 */
export function refusedEmbedder(headers: Headers, ownHost: string, origins: readonly string[]): string | null {
  if (!framed.has(headers.get('sec-fetch-dest') ?? '')) return null;
  const embedder = URL.parse(headers.get('referer') ?? '');
  if (!embedder || embedder.origin === 'null' || embedder.host === ownHost) return null;
  return origins.includes(embedder.origin) ? null : embedder.origin;
}

const framed: ReadonlySet<string> = new Set(['iframe', 'frame', 'embed', 'object']);

/** Nothing of a session is in it, so that every page may show it. */
export const refusedFrame = (embedder: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Not shown here</title>
    <style>
      html, body { height: 100%; margin: 0 }
      body { display: grid; place-items: center; font: 1rem/1.6 ui-sans-serif, system-ui, sans-serif }
      main { max-width: 26rem; padding: 1.5rem; text-align: center; text-wrap: balance }
      h1 { font-size: 1.25rem; line-height: 1.3; margin: 0 0 .5rem }
      p { margin: 0; overflow-wrap: anywhere; opacity: .75 }
      code { font-size: .875em }
    </style>
  </head>
  <body>
    <main role="alert">
      <h1>This chat cannot be shown on this site</h1>
      <p>${escaped(embedder)} is not among the origins that may embed it. Whoever runs the site can add it to the
        <code>allowed_embed_origins</code> of their organisation.</p>
    </main>
  </body>
</html>
`;

export const refusedFrameHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
  'content-type': 'text/html; charset=utf-8',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

const escaped = (text: string) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
