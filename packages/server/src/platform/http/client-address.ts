import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Tells whether an address belongs to a proxy that says truly where a request came from. */
export type IsTrustedProxy = (address: string) => boolean;

/** Addresses and ranges such as `10.0.0.0/8`, separated by commas. Null where one of them is neither. */
export function readTrustedProxies(text: string): IsTrustedProxy | null {
  const ranges: [ipaddr.IPv4 | ipaddr.IPv6, number][] = [];
  for (const entry of text.split(',').map((each) => each.trim())) {
    const range = rangeOf(entry);
    if (!range) return null;
    ranges.push(range);
  }
  return (address) => {
    if (!isIP(address)) return false;
    const parsed = ipaddr.process(address);
    return ranges.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits));
  };
}

function rangeOf(entry: string): [ipaddr.IPv4 | ipaddr.IPv6, number] | null {
  if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry);
  if (!isIP(entry)) return null;
  const address = ipaddr.process(entry);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

/**
 * The address of whoever sent a request. Each proxy adds at the right of `X-Forwarded-For` where it got the request from,
 * so the header is read from there, and only as far as trusted proxies wrote it: what stands left of that anybody may
 * have made up.
 */
export function clientAddress(socketAddress: string, forwardedFor: string | null, isTrusted: IsTrustedProxy): string {
  let address = plain(socketAddress);
  for (const entry of (forwardedFor ?? '').split(',').toReversed()) {
    if (!isTrusted(address)) return address;
    const before = withoutPort(entry.trim());
    if (!isIP(before)) return address;
    address = plain(before);
  }
  return address;
}

/** A socket that takes both kinds of addresses shows those of the older kind as `::ffff:192.0.2.1`. */
const plain = (address: string) => (isIP(address) === 6 ? ipaddr.process(address).toString() : address);

const withoutPort = (entry: string) =>
  /^\[([^\]]+)\](?::\d+)?$/.exec(entry)?.[1] ?? entry.replace(/^([\d.]+):\d+$/, '$1');
