import { isIP } from 'node:net';
import { fail } from '@vestra/contract/errors';
import ipaddr from 'ipaddr.js';

/**
 * `allowPrivate` is the setting VESTRA_ALLOW_PRIVATE_ADDRESSES. It allows private and loopback addresses and nothing
 * else.
 */
type AddressPolicy = { allowPrivate: boolean };

const maxUrlLength = 2048;
const refused = 'Private, local and internal addresses are refused.';

/**
 * The reason why this URL must not be called, or null. It checks the text only: `mayConnect` checks the resolved
 * address later. The reason never repeats the URL, which may contain a credential.
 */
export function refuseAddress(text: string, { allowPrivate }: AddressPolicy): string | null {
  if (text.length > maxUrlLength) return `The address may have at most ${maxUrlLength} characters.`;
  // The URL parser drops or rewrites these, so the stored text and the called address would differ.
  if (/[\s\p{Cc}\\]/u.test(text)) return 'The address must not hold spaces, control characters or backslashes.';
  if (!/^https?:\/\/[^/]/i.test(text)) return 'The address must begin with https://.';
  if (!URL.canParse(text)) return 'The address is not a valid URL.';

  const { protocol, hostname, username, password } = new URL(text);
  if (username !== '' || password !== '') return 'The address must not hold a user name or password.';
  const host = kindOfHost(hostname);
  if (host === 'malformed') return 'The host must be a full name such as example.com, without a dot at its end.';
  if (host === 'closed') return refused;
  if (host === 'local' && !allowPrivate) {
    return `${refused} To allow private and local ones, start the server with VESTRA_ALLOW_PRIVATE_ADDRESSES=1.`;
  }
  if (protocol === 'http:' && host === 'public') return 'Plain http is refused: the address must begin with https://.';
  return null;
}

/** Throws 400 `invalid_request` on `param` for an address that must not be called. */
export function assertCallable(url: string, param: string, policy: AddressPolicy): void {
  const message = refuseAddress(url, policy);
  if (message !== null) throw fail('invalid_request', { param, message });
}

/**
 * Whether a connection to this resolved address is allowed. Plain http is allowed to private and loopback addresses
 * only.
 */
export function mayConnect(ip: string, { allowPrivate, protocol }: AddressPolicy & { protocol: string }): boolean {
  const kind = kindOfIp(ip);
  if (kind === 'public') return protocol === 'https:';
  return kind === 'local' && allowPrivate;
}

/** Whether a proxy may connect to this resolved address, with any protocol. */
export function mayReach(ip: string, { allowPrivate }: AddressPolicy): boolean {
  const kind = kindOfIp(ip);
  return kind === 'public' || (kind === 'local' && allowPrivate);
}

export const isPublicIp = (ip: string): boolean => kindOfIp(ip) === 'public';

/**
 * The operator can allow `local`. `closed` is never allowed: link-local, metadata, multicast, reserved and translated
 * addresses.
 */
type AddressKind = 'public' | 'local' | 'closed';

const localNames = ['localhost', 'local', 'localdomain', 'internal', 'home.arpa', 'lan'];

function kindOfHost(hostname: string): AddressKind | 'malformed' {
  // The parser has already normalised decimal, octal and hex hosts to four numbers, and IPv6 to brackets.
  const literal = hostname.replace(/^\[|\]$/g, '');
  if (isIP(literal) !== 0) return kindOfIp(literal);
  const labels = hostname.split('.');
  if (labels.includes('') || (labels.length === 1 && hostname !== 'localhost')) return 'malformed';
  return localNames.some((name) => `.${hostname}`.endsWith(`.${name}`)) ? 'local' : 'public';
}

function kindOfIp(ip: string): AddressKind {
  // ipaddr.js also accepts octal, hex and shortened IPv4, which a resolver never returns.
  if (isIP(ip) === 0) return 'closed';
  const address = ipaddr.parse(ip);
  return address.kind() === 'ipv4' ? kindOfIpv4(address as ipaddr.IPv4) : kindOfIpv6(address as ipaddr.IPv6);
}

/** A public address that answers inside Azure only, with the configuration of the machine. */
const azureWireServer = '168.63.129.16';

function kindOfIpv4(address: ipaddr.IPv4): AddressKind {
  if (address.toString() === azureWireServer) return 'closed';
  const range = address.range();
  if (range === 'unicast') return 'public';
  return range === 'private' || range === 'loopback' ? 'local' : 'closed';
}

/** Metadata services of AWS, Google Cloud, Oracle and Scaleway, which are in the private range. */
const metadataIpv6 = ['fd00:ec2::/32', 'fd20:ce::/32', 'fd00:c1::/32', 'fd00:42::/32'].map((range) =>
  ipaddr.IPv6.parseCIDR(range),
);
/** The only range with public addresses. Others include forms that embed an IPv4 address. */
const globalIpv6 = ipaddr.IPv6.parseCIDR('2000::/3');

function kindOfIpv6(address: ipaddr.IPv6): AddressKind {
  if (address.zoneId !== undefined || metadataIpv6.some((range) => address.match(range))) return 'closed';
  const range = address.range();
  if (range === 'uniqueLocal' || range === 'loopback') return 'local';
  return range === 'unicast' && address.match(globalIpv6) ? 'public' : 'closed';
}
