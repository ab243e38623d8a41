/** What is known of a client before anybody lets it in. */
export type McpClient = {
  id: string;
  name: string;
  redirectUris: readonly string[];
  /** The host that published what it is; null: it has registered, and may claim any name. */
  publishedBy: string | null;
};

const loopback = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Browsers run or open these themselves, so that they are no app's. */
const schemesOfBrowsers = new Set([
  ...[
    'about',
    'blob',
    'chrome',
    'chrome-extension',
    'data',
    'file',
    'filesystem',
    'ftp',
    'intent',
    'jar',
    'javascript',
  ],
  ...['mailto', 'moz-extension', 'resource', 'sms', 'tel', 'vbscript', 'view-source', 'ws', 'wss'],
]);

/** Why browsers are not sent to this address, or null. */
export function refuseRedirect(address: string): string | null {
  if (address.length > 2048) return 'A redirect address may have at most 2048 characters.';
  // The parser drops or rewrites these, so that the registered text and the address would differ.
  if (/[\s\p{Cc}\\]/u.test(address))
    return 'A redirect address must not hold spaces, control characters or backslashes.';
  const url = URL.parse(address);
  if (!url) return 'The redirect address is not a valid URL.';
  if (address.includes('#')) return 'A redirect address has no fragment.';
  if (url.username !== '' || url.password !== '') return 'A redirect address holds no user name or password.';
  if (url.protocol === 'https:') return null;
  if (url.protocol === 'http:') {
    return loopback.has(url.hostname) ? null : 'Plain http is for programs on the same computer (localhost) alone.';
  }
  return schemesOfBrowsers.has(url.protocol.slice(0, -1)) ? 'Links of this scheme lead to no app.' : null;
}

/** Letter by letter; the port of a program on the same computer is not known beforehand (RFC 8252). */
export function isRedirectOf({ redirectUris }: Pick<McpClient, 'redirectUris'>, address: string): boolean {
  if (refuseRedirect(address) !== null) return false;
  return redirectUris.includes(address) || redirectUris.some((each) => differsInPortAlone(each, address));
}

function differsInPortAlone(registered: string, address: string): boolean {
  const [a, b] = [URL.parse(registered), URL.parse(address)];
  if (!a || !b || a.protocol !== 'http:' || !loopback.has(a.hostname)) return false;
  a.port = '';
  b.port = '';
  return a.href === b.href;
}

export type Destination = { kind: 'site' | 'computer' | 'app'; address: string };

/** Who gets the access. */
export function destinationOf(redirectUri: string): Destination {
  const { protocol, hostname, host } = new URL(redirectUri);
  if (protocol === 'https:') return { kind: 'site', address: host };
  if (protocol === 'http:') return { kind: 'computer', address: hostname };
  return { kind: 'app', address: `${protocol.slice(0, -1)}:` };
}

/** The host that answers for it; any program on a computer, and any app, can say that it is a published client. */
export function addressOf(client: McpClient, redirectUri: string): { address: string; isVerified: boolean } {
  const { kind, address } = destinationOf(redirectUri);
  if (client.publishedBy === null) return { address, isVerified: false };
  return { address: client.publishedBy, isVerified: kind === 'site' };
}

const longestName = 80;

/** As it can stand in a sentence: no line of its own, and nothing that turns the text around it. */
export function shownName(name: string | undefined, otherwise: string): string {
  const shown = (name ?? '')
    .toWellFormed()
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return [...(shown || otherwise)].slice(0, longestName).join('');
}
