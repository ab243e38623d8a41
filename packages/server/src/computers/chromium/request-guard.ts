import type { DevtoolsSession } from './devtools.ts';

export type SiteRules = {
  /** Null: every host. */
  hosts: readonly string[] | null;
  mayReach: (host: string) => boolean;
  /** The page at this address if it is blocked; null if it may be opened. */
  blockedPage: (address: URL) => BlockedPage | null;
};

export type BlockedPage = { host: string; path: string };

export type RequestRefusal =
  | { kind: 'site'; host: string; isWholePage: boolean }
  /** `isWholePage`: not a frame within another page. */
  | { kind: 'page'; page: BlockedPage; isWholePage: boolean };

/** The rules of a tab before it gets others. */
export const allowNothing: SiteRules = { hosts: [], mayReach: () => false, blockedPage: () => null };

type GuardOptions = {
  /** Called for every request: the rules may change while the tab is open. */
  rules: () => SiteRules;
  /** True for the page of the tab, false for a frame within it. */
  isWholePage: (frameId: string) => boolean;
  refused: (refusal: RequestRefusal) => void;
};

/** Pages and worker scripts may open connections, so they get a policy. */
const policed = ['Document', 'Script', 'Other'] as const;

/**
 * Checks every request of a target, including each redirect, against the rules of its tab. The proxy allows what any
 * open tab may reach; this check separates the tabs.
 */
export async function guardRequests(session: DevtoolsSession, guarded: GuardOptions): Promise<void> {
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
    // Aborting keeps the previous page. Blocking would replace it with an error page.
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

/** Chromium applies an added policy to a document only if the whole response is replaced. */
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

/** The body is already decoded, so these headers would be wrong. */
const ofTransfer = ['content-encoding', 'content-length', 'transfer-encoding'];

const isDownload = (headers: readonly Header[]) =>
  headers.some(({ name, value }) => name.toLowerCase() === 'content-disposition' && /^\s*attachment/i.test(value));

function refusalOf(
  { rules, isWholePage }: GuardOptions,
  { url, frameId, isDocument }: { url: string; frameId: string; isDocument: boolean },
): RequestRefusal | null {
  const isWhole = isDocument && isWholePage(frameId);
  if (!URL.canParse(url)) return { kind: 'site', host: '', isWholePage: isWhole };
  const address = new URL(url);
  if (local.includes(address.protocol)) return null;
  if (!web.includes(address.protocol) || !rules().mayReach(address.hostname)) {
    return { kind: 'site', host: address.hostname, isWholePage: isWhole };
  }
  const page = isDocument ? rules().blockedPage(address) : null;
  return page && { kind: 'page', page, isWholePage: isWhole };
}

const web = ['http:', 'https:', 'ws:', 'wss:'];
/** These load nothing from the network. */
const local = ['about:', 'data:', 'blob:'];

/** WebSockets cannot be intercepted, so a content security policy limits their hosts. */
function connectPolicy({ hosts }: SiteRules): string | null {
  if (hosts === null) return null;
  const sources = hosts.flatMap((host) => ['http', 'https', 'ws', 'wss'].map((scheme) => `${scheme}://${host}:*`));
  return `connect-src data: blob: ${sources.join(' ')}`;
}
