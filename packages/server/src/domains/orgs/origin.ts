import { fail } from '@vestra/contract/errors';

/** `https://shop.example` and `https://shop.example:8443`, never with a path, a name or a wildcard. */
export function readEmbedOrigin(text: string, at: number): string {
  const url = URL.parse(text);
  const isOrigin =
    url?.protocol === 'https:' && (text === url.origin || text === `${url.origin}/`) && !text.includes('*');
  if (!isOrigin) throw fail('invalid_origin', { param: `allowed_embed_origins.${at}` });
  return url.origin;
}
