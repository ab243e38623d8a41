import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { mayReach } from '../../platform/outbound/address.ts';

const maxOfferLength = 100_000;
const maxCandidates = 20;

/** Length in bytes of each digest that a fingerprint may use. */
const digestBytes: Record<string, number> = { 'sha-1': 20, 'sha-224': 28, 'sha-256': 32, 'sha-384': 48, 'sha-512': 64 };

/**
 * The offer as WebRTC may read it, or null if it is not an offer of sound. WebRTC sends packets to every address in an
 * offer, and the end user writes the offer. Only UDP candidates that the server may call stay. Host names are removed
 * too, so nothing is resolved. A browser that hides its addresses behind mDNS names is found by the checks that it
 * sends.
 */
export function guardOffer(sdp: string, policy: { allowPrivate: boolean }): string | null {
  if (sdp.length > maxOfferLength || !/^v=0\r?\n/.test(sdp)) return null;
  const lines = sdp.split('\n').map((line) => line.replace(/\r$/, ''));
  // Another parser might end a line at one of these and find an unchecked address.
  if (lines.some((line) => /\p{Cc}/u.test(line.replaceAll('\t', '')))) return null;
  if (!lines.some((line) => line.startsWith('m=audio ')) || !hasFingerprint(lines)) return null;
  const taken = new Set<string>();
  let section = 0;
  const guarded = lines.flatMap((line) => {
    if (line.startsWith('m=')) section++;
    if (!/candidate/i.test(line) || line === 'a=end-of-candidates') return withoutAddress(line);
    const candidate = candidateIn(line);
    if (candidate?.transport !== 'udp' || !mayReach(candidate.address, policy)) return [];
    const key = `${section} ${candidate.address}`;
    if (taken.has(key) || taken.size >= maxCandidates) return [];
    taken.add(key);
    return textOf({ ...candidate, related: '' });
  });
  return guarded.join('\r\n');
}

/** Port 9 and address 0.0.0.0 mean "see the candidates"; a section with port 0 is refused and stays so. */
function withoutAddress(line: string): string {
  if (line.startsWith('c=')) return 'c=IN IP4 0.0.0.0';
  if (line.startsWith('a=rtcp:')) return 'a=rtcp:9 IN IP4 0.0.0.0';
  return line.replace(/^(m=\S+) (?!0 )\S+/, '$1 9');
}

/** WebRTC fails late, and as if it were the server's fault, on a fingerprint that it cannot read. */
function hasFingerprint(lines: readonly string[]): boolean {
  const fingerprints = lines.filter((line) => /^a=fingerprint/i.test(line));
  return fingerprints.length > 0 && fingerprints.every(isFingerprint);
}

function isFingerprint(line: string): boolean {
  const [, digest = '', hex = ''] = /^a=fingerprint:(\S+) ([0-9A-F]{2}(?::[0-9A-F]{2})*)\s*$/i.exec(line) ?? [];
  return hex.split(':').length === digestBytes[digest.toLowerCase()];
}

type AnswerNetwork = {
  /** Replaces the machine's own addresses; null if browsers reach those. */
  address: string | null;
  allowPrivate: boolean;
};

/**
 * The answer as the browser gets it. Its candidates name no TCP port, since sound arrives by UDP only, and neither loopback nor
 * link-local addresses. A candidate of a STUN or TURN server does not name the private address behind it.
 */
export function guardAnswer(sdp: string, { address, allowPrivate }: AnswerNetwork): string {
  const guarded = sdp.split(/\r?\n/).flatMap((line) => {
    if (!line.startsWith('a=candidate:')) return withoutAddress(line);
    const candidate = candidateIn(line);
    if (candidate?.transport !== 'udp') return [];
    if (!isAnnounced(candidate.address, allowPrivate && address === null)) return [];
    const isOwn = candidate.type === 'host';
    if (isOwn && address !== null && isIP(address) !== isIP(candidate.address)) return [];
    const shown = isOwn ? { ...candidate, address: address ?? candidate.address } : candidate;
    return textOf({ ...shown, related: isOwn ? '' : ' raddr 0.0.0.0 rport 0' });
  });
  return guarded.join('\r\n');
}

function isAnnounced(address: string, withLoopback: boolean): boolean {
  if (isIP(address) === 0) return false;
  const range = ipaddr.process(address).range();
  return range !== 'linkLocal' && range !== 'unspecified' && (range !== 'loopback' || withLoopback);
}

/** `start`: its foundation and component. */
type Candidate = { start: string; transport: string; priority: string; address: string; port: string; type: string };

const candidatePattern =
  /^a=candidate:([\w+/=-]{1,64} 1) (\w{1,8}) (\d{1,10}) ([\w.:-]{1,253}) (\d{1,5}) typ (host|srflx|prflx|relay)(?: .*)?$/i;

/** Attributes after the type are left out: WebRTC needs none of them. */
function candidateIn(line: string): Candidate | null {
  const parts = candidatePattern
    .exec(line)
    ?.slice(1)
    .map((part) => part.toLowerCase());
  if (!parts) return null;
  const [start, transport, priority, address, port, type] = parts as [string, string, string, string, string, string];
  return { start, transport, priority, address, port, type };
}

const textOf = ({ start, priority, address, port, type, related }: Candidate & { related: string }): string =>
  `a=candidate:${start} udp ${priority} ${address} ${port} typ ${type}${related}`;
