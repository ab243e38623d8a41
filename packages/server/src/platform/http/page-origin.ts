import { fail } from '@vestra/contract/errors';
import { type Route, sessionAccessOf } from '@vestra/contract/route';

/** Which pages may use a session: those of the origins that its org lists, and those of this server. */
export type EmbedOrigins = {
  /** Whether any org lists it: before it sends its token, a browser asks without saying of which. */
  isListed: (origin: string) => Promise<boolean>;
  /** Those of the session's org and mode, also where the session has ended; none where there is no such session. */
  ofToken: (token: string) => Promise<readonly string[]>;
};

/**
 * The headers that let pages of the request's origin read the answer. An answer to a key has none: keys do not belong into
 * pages. Throws where a session is used on a page that may not.
 */
export async function pageAccess(
  origins: EmbedOrigins,
  route: Route,
  request: Request,
): Promise<Record<string, string>> {
  if (!sessionAccessOf(route)) return {};
  const origin = request.headers.get('origin');
  const token = /^Bearer (vst_[\x21-\x7e]{1,508})$/i.exec(request.headers.get('authorization') ?? '')?.[1];
  if (origin === null || token === undefined || isOwnPage(origin, request)) return {};
  if ((await origins.ofToken(token)).includes(origin)) return readableBy(origin);
  // The browser would hide the answer, and not undo what the call has done.
  throw fail('origin_not_allowed', {
    param: 'Origin',
    message: 'Pages of this origin may not use the session: the org’s `allowed_embed_origins` do not list it.',
  });
}

/** The answer to a browser that asks first; null where pages of its origin may not. */
export async function preflight(
  origins: EmbedOrigins,
  methods: readonly string[],
  request: Request,
): Promise<Response | null> {
  const origin = request.headers.get('origin');
  const wanted = request.headers.get('access-control-request-method');
  if (origin === null || wanted === null || !methods.includes(wanted)) return null;
  if (origin.length > longestOrigin || !(await origins.isListed(origin))) return null;
  return new Response(null, {
    status: 204,
    headers: {
      ...readableBy(origin),
      'access-control-allow-methods': methods.join(', '),
      'access-control-allow-headers': 'Authorization, Content-Type, Idempotency-Key, Last-Event-ID, Prefer',
      'access-control-max-age': '600',
    },
  });
}

const longestOrigin = 2048;

/** Never `*`, and never with cookies. */
const readableBy = (origin: string) => ({
  'access-control-allow-origin': origin,
  'access-control-expose-headers': 'Request-Id, Retry-After, RateLimit, RateLimit-Policy, Idempotent-Replayed',
});

/** No page can write either header: the browser says where it comes from and where it goes. */
function isOwnPage(origin: string, { headers, url }: Request): boolean {
  if (headers.get('sec-fetch-site') === 'same-origin') return true;
  return URL.parse(origin)?.host === (headers.get('host') ?? new URL(url).host);
}
