import { fail } from '@vestra/contract/errors';
import type { Mode } from '@vestra/contract/route';

/** Origins go into a header whose parts are told apart by spaces, commas and semicolons. */
const host = /^(?:\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)$/;

/** Where a page stands while it is made: nobody else's browser takes it for its own machine. */
const ownMachine = new Set(['localhost', '127.0.0.1']);

/** `https://shop.example` and `https://shop.example:8443`, never with a path, a name or a wildcard. */
export function readEmbedOrigin(text: string, at: number, mode: Mode): string {
  const url = URL.parse(text);
  const isOrigin = url !== null && (text === url.origin || text === `${url.origin}/`) && host.test(url.hostname);
  const isReached = url?.protocol === 'https:' || (url?.protocol === 'http:' && ownMachine.has(url.hostname));
  if (!isOrigin || !isReached) throw fail('invalid_origin', { param: `allowed_embed_origins.${at}` });
  if (url.protocol === 'http:' && mode === 'live') {
    throw fail('invalid_origin', {
      param: `allowed_embed_origins.${at}`,
      message: `${url.origin} is for test mode alone: live pages embed on https origins.`,
    });
  }
  return url.origin;
}
