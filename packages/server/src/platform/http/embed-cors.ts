import { fail } from '@vestra/contract/errors';
import { type Route, sessionAccessOf } from '@vestra/contract/route';

/** The pages that may use a session: those of the org's listed origins, and those of this server. */
export type EmbedOrigins = {
  /** Whether any org lists the origin. A preflight request has no token that would identify the org. */
  isListed: (origin: string) => Promise<boolean>;
  /**
   * The origins of the session's org and mode, also after the session has ended. Empty if the session does not exist.
   */
  ofToken: (token: string) => Promise<readonly string[]>;
};

/**
 * The headers that let pages of the request's origin read the response. Responses to API keys have none, because keys
 * do not belong in pages. Throws if the page may not use the session.
 */
export async function embedCorsHeaders(
  origins: EmbedOrigins,
  route: Route,
  request: Request,
): Promise<Record<string, string>> {
  if (!sessionAccessOf(route)) return {};
  const origin = request.headers.get('origin');
  const token = /^Bearer (vst_[\x21-\x7e]{1,508})$/i.exec(request.headers.get('authorization') ?? '')?.[1];
  if (origin === null || token === undefined || isOwnPage(origin, request)) return {};
  if ((await origins.ofToken(token)).includes(origin)) return readableBy(origin);
  // Refuse the request: the browser would hide the response, but could not undo the effect.
  throw fail('origin_not_allowed', {
    param: 'Origin',
    message: 'Pages of this origin may not use the session: the org’s `allowed_embed_origins` do not list it.',
  });
}

/** The response to a preflight request; null if pages of its origin have no access. */
export async function preflight(
  origins: EmbedOrigins,
  methods: readonly string[],
  request: Request,
): Promise<Response | null> {
  const origin = request.headers.get('origin');
  const wanted = request.headers.get('access-control-request-method');
  if (origin === null || wanted === null || !methods.includes(wanted)) return null;
  if (origin.length > maxOriginLength || !(await origins.isListed(origin))) return null;
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

const maxOriginLength = 2048;

/** Never use `*` and never allow cookies. */
const readableBy = (origin: string) => ({
  'access-control-allow-origin': origin,
  'access-control-expose-headers': 'Request-Id, Retry-After, RateLimit, RateLimit-Policy, Idempotent-Replayed',
});

/** Browsers set both headers, and a page cannot change them. */
function isOwnPage(origin: string, { headers, url }: Request): boolean {
  if (headers.get('sec-fetch-site') === 'same-origin') return true;
  return URL.parse(origin)?.host === (headers.get('host') ?? new URL(url).host);
}
