import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { type Failure, fail } from '@vestra/contract/errors';
import ipaddr from 'ipaddr.js';

/** Headers that a proxy adds. What carries one came from somewhere else, whatever address the socket has. */
const ofProxies = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-port',
  'x-forwarded-server',
  'x-original-forwarded-for',
  'x-real-ip',
  'x-client-ip',
  'x-envoy-external-address',
  'true-client-ip',
  'cf-connecting-ip',
  'cdn-loop',
];

/**
 * Whether a request may read the metrics: with the operator's token, or straight from this machine. Null: it may.
 *
 * A browser on this machine can be made to ask for a page's own host name at 127.0.0.1, so the name counts too. Where there
 * is no token there is nothing to be had from elsewhere, not even the knowledge that the route is there.
 */
export function refuseMetrics(socketAddress: string, headers: Headers, token: string | null): Failure | null {
  const authorization = headers.get('authorization');
  if (authorization === null && isOwnMachine(socketAddress, headers)) return null;
  if (token === null) return fail('route_not_found');
  if (authorization === null) return fail('key_missing', { message: 'Send VESTRA_METRICS_TOKEN as bearer token.' });
  const given = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(authorization)?.[1];
  if (given !== undefined && isSame(given, token)) return null;
  return fail('key_invalid', { message: 'This is not the token that VESTRA_METRICS_TOKEN holds.' });
}

function isOwnMachine(socketAddress: string, headers: Headers): boolean {
  return (
    isLoopback(socketAddress) &&
    isLoopbackName(headers.get('host') ?? '') &&
    !ofProxies.some((name) => headers.has(name))
  );
}

const isLoopback = (address: string) => isIP(address) !== 0 && ipaddr.process(address).range() === 'loopback';

function isLoopbackName(host: string): boolean {
  const name = host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  return name.toLowerCase() === 'localhost' || isLoopback(name);
}

/** In a time that says nothing about how much of it is right. */
const isSame = (given: string, token: string) => timingSafeEqual(digest(given), digest(token));

const digest = (text: string) => createHash('sha256').update(text).digest();
