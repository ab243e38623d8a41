import { fail } from '@vestra/contract/errors';
import { RE2JS } from 're2js';

const longestAddress = 8192;

/**
 * Whether an address fits: `/regex/`, a glob with `*`, or any part of it. A glob fits the whole address or, where it
 * begins with a slash, everything behind the host. Expressions are read by an engine whose time grows with the address
 * alone.
 */
export function matcherOf(match: string, param: string): (address: string) => boolean {
  const fits = fitter(match, param);
  return (address) => fits(address.slice(0, longestAddress));
}

function fitter(match: string, param: string): (address: string) => boolean {
  if (match.length > 2 && match.startsWith('/') && match.endsWith('/')) {
    const expression = compile(match.slice(1, -1), param);
    return (address) => expression.matcher(address).find();
  }
  if (!match.includes('*')) return (address) => address.includes(match);
  const glob = compile(match.split('*').map(RE2JS.quote).join('.*'), param);
  return (address) => glob.matches(match.startsWith('/') ? behindHost(address) : address);
}

function compile(expression: string, param: string): RE2JS {
  try {
    return RE2JS.compile(expression);
  } catch {
    throw fail('invalid_request', { param, message: 'This is not a regular expression that can be used here.' });
  }
}

const behindHost = (address: string) => address.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '');
