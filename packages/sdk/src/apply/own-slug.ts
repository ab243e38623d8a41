import { createHash } from 'node:crypto';

/**
 * The slug by which what a path of a deployment has become is found again. The digest keeps it apart from what another
 * deployment has at that path, and from everything that somebody made by hand: neither is ever written over.
 */
export function ownSlug(deployment: string, path: string, otherwise: string): string {
  const digest = createHash('sha256').update(`${deployment}\0${path}`).digest('hex').slice(0, 8);
  const words = `${deployment}-${path}`.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  const start = words
    .replace(/^[^a-z]+/, '')
    .slice(0, 31)
    .replace(/-+$/, '');
  return `${start || otherwise}-${digest}`;
}
