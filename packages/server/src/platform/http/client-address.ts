import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Whether an address belongs to a proxy whose X-Forwarded-For can be trusted. */
export type IsTrustedProxy = (address: string) => boolean;

/** Reads addresses and ranges such as `10.0.0.0/8`, separated by commas. Returns null if an entry is neither. */
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
 * The address of the client. Each proxy appends the address of its sender to `X-Forwarded-For`, so the header is read
 * from the right, as long as the sender is a trusted proxy. Entries to the left of that may be forged.
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

/** A dual-stack socket shows IPv4 addresses as `::ffff:192.0.2.1`. */
const plain = (address: string) => (isIP(address) === 6 ? ipaddr.process(address).toString() : address);

const withoutPort = (entry: string) =>
  /^\[([^\]]+)\](?::\d+)?$/.exec(entry)?.[1] ?? entry.replace(/^([\d.]+):\d+$/, '$1');
