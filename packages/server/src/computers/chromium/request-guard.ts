import type { DevtoolsSession } from './devtools.ts';

/** What a tab may load. */
export type Rules = {
  /** The hosts that it may reach; null: every one. */
  hosts: readonly string[] | null;
  mayReach: (host: string) => boolean;
  /** The page at this address where it is closed; null where it is open. */
  closedPage: (address: URL) => ClosedPage | null;
};

export type ClosedPage = { host: string; path: string };

/** Why something was not loaded. */
export type Refusal =
  | { kind: 'site'; host: string; isWholePage: boolean }
  /** `isWholePage`: not a frame within another page. */
  | { kind: 'page'; page: ClosedPage; isWholePage: boolean };

/** Held by a tab before it is given others. */
export const nothingAtAll: Rules = { hosts: [], mayReach: () => false, closedPage: () => null };

type Guarded = {
  /** Asked for every request: they may change while the tab is open. */
  rules: () => Rules;
  /** The tab's own page, as opposed to a frame within it. */
  isWholePage: (frameId: string) => boolean;
  refused: (refusal: Refusal) => void;
};

/** What may open connections of its own: pages, and the scripts of workers. */
const policed = ['Document', 'Script', 'Other'] as const;

/**
 * Holds every request of a target against the rules of its tab, each hop of a redirect included. The proxy lets pass
 * what any open tab may reach; this keeps the tabs apart.
 */
export async function guardRequests(session: DevtoolsSession, guarded: Guarded): Promise<void> {
  session.on('Fetch.requestPaused', (paused) => {
    const { requestId, request, frameId, resourceType, responseStatusCode, responseHeaders = [] } = paused;
    const isDocument = resourceType === 'Document';
    if (responseStatusCode !== undefined) {
      const response = { requestId, responseCode: responseStatusCode, responseHeaders };
      return void passAnswer(session, response, isDocument, connectPolicy(guarded.rules())).catch(() => {});
    }
    const refusal = refusalOf(guarded, { url: request.url, frameId, isDocument });
    if (!refusal) return void session.send('Fetch.continueRequest', { requestId }).catch(() => {});
    guarded.refused(refusal);
    // An aborted page leaves the one before it standing; a blocked one would put an error page in its place.
    const errorReason = refusal.isWholePage ? 'Aborted' : 'BlockedByClient';
    session.send('Fetch.failRequest', { requestId, errorReason }).catch(() => {});
  });
  await session.send('Fetch.enable', {
    patterns: [
      { urlPattern: '*', requestStage: 'Request' },
      ...policed.map((resourceType) => ({ urlPattern: '*', resourceType, requestStage: 'Response' as const })),
    ],
  });
}

type Header = { name: string; value: string };

/** Of a document the policy is read only where the whole answer is given anew. */
async function passAnswer(
  session: DevtoolsSession,
  { requestId, responseCode, responseHeaders }: { requestId: string; responseCode: number; responseHeaders: Header[] },
  isDocument: boolean,
  policy: string | null,
): Promise<void> {
  const isPage = responseCode < 300 || responseCode >= 400;
  if (policy === null || !isPage) return void (await session.send('Fetch.continueResponse', { requestId }));
  const policed = [...responseHeaders, { name: 'content-security-policy', value: policy }];
  if (!isDocument || responseCode === 204 || isDownload(responseHeaders)) {
    await session.send('Fetch.continueResponse', { requestId, responseCode, responseHeaders: policed });
    return;
  }
  const { body, base64Encoded } = await session.send('Fetch.getResponseBody', { requestId });
  await session.send('Fetch.fulfillRequest', {
    requestId,
    responseCode,
    responseHeaders: policed.filter(({ name }) => !ofTransfer.includes(name.toLowerCase())),
    body: base64Encoded ? body : Buffer.from(body).toString('base64'),
  });
}

/** The body is given as it was before it was packed for the way. */
const ofTransfer = ['content-encoding', 'content-length', 'transfer-encoding'];

const isDownload = (headers: readonly Header[]) =>
  headers.some(({ name, value }) => name.toLowerCase() === 'content-disposition' && /^\s*attachment/i.test(value));

function refusalOf(
  { rules, isWholePage }: Guarded,
  { url, frameId, isDocument }: { url: string; frameId: string; isDocument: boolean },
): Refusal | null {
  const isWhole = isDocument && isWholePage(frameId);
  if (!URL.canParse(url)) return { kind: 'site', host: '', isWholePage: isWhole };
  const address = new URL(url);
  if (local.includes(address.protocol)) return null;
  if (!web.includes(address.protocol) || !rules().mayReach(address.hostname)) {
    return { kind: 'site', host: address.hostname, isWholePage: isWhole };
  }
  const page = isDocument ? rules().closedPage(address) : null;
  return page && { kind: 'page', page, isWholePage: isWhole };
}

const web = ['http:', 'https:', 'ws:', 'wss:'];
/** Loaded from nowhere. */
const local = ['about:', 'data:', 'blob:'];

/** WebSockets pass no request by which they could be held: the page itself is told whom it may speak with. */
function connectPolicy({ hosts }: Rules): string | null {
  if (hosts === null) return null;
  const sources = hosts.flatMap((host) => ['http', 'https', 'ws', 'wss'].map((scheme) => `${scheme}://${host}:*`));
  return `connect-src data: blob: ${sources.join(' ')}`;
}
