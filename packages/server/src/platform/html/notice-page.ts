type Notice = {
  status: number;
  title: string;
  /** HTML: escape what comes from outside. */
  text: string;
  /** Every site may show the page in a frame, so it must contain nothing of a user or org. */
  isFramed?: boolean;
};

/** A page of one message, for browsers: it explains why what was requested is not there. */
export const noticePage = ({ status, title, text, isFramed = false }: Notice): Response =>
  new Response(documentOf(escapeHtml(title), text), {
    status,
    headers: {
      'cache-control': 'no-store',
      'content-security-policy': [
        "default-src 'none'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self'",
        "font-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        ...(isFramed ? [] : ["frame-ancestors 'none'"]),
      ].join('; '),
      'content-type': 'text/html; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    },
  });

/** Programs get plain text. */
export const acceptsHtml = (headers: Headers): boolean => headers.get('accept')?.includes('text/html') ?? false;

export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

const documentOf = (title: string, text: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title}</title>
    <link rel="icon" href="/favicon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="/brand/identity.css">
    <style>
      html, body { height: 100%; margin: 0 }
      body {
        display: grid; place-items: center; background: var(--background); color: var(--foreground);
        font: 1rem/1.6 var(--typeface, ui-sans-serif, system-ui, sans-serif);
      }
      main { max-width: 26rem; padding: 1.5rem; text-align: center; text-wrap: balance }
      h1 { font-size: 1.25rem; font-weight: 600; letter-spacing: -0.015em; line-height: 1.3; margin: 1rem 0 .5rem }
      p { margin: 0; overflow-wrap: anywhere; color: var(--quiet) }
      code { font: .875em var(--typeface-code, monospace) }
    </style>
  </head>
  <body>
    <main>
      <img alt="" height="32" src="/brand/mark.svg" width="32">
      <div role="alert">
        <h1>${title}</h1>
        <p>${text}</p>
      </div>
    </main>
  </body>
</html>
`;
