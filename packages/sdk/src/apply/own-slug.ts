import { createHash } from 'node:crypto';

/**
 * The slug under which the object for a deployment's path is found again. The digest separates it from other
 * deployments and from objects created by hand, so that neither is overwritten.
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
