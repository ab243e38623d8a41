import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { fail } from '@vestra/contract/errors';
import type { EndpointRow, SecretRow } from './tables.ts';

/** What whoever registers an endpoint decides. */
export type EndpointFields = Pick<EndpointRow, 'url' | 'events' | 'description' | 'active'>;

/**
 * As Standard Webhooks writes it. 24 bytes fill base64 without padding, so a secret that is copied by a double click or
 * read from an env file loses no `=` at its end.
 */
export const newSecret = (): string => `whsec_${randomBytes(24).toString('base64')}`;

/** Each adds a signature to the headers of every delivery, and receivers refuse headers beyond a few kilobytes. */
const mostSecrets = 10;

/** Every secret that a roll replaced is promised 24 hours: none may be dropped early to make room. */
export function assertMayRoll(inForce: readonly Pick<SecretRow, 'valid_until'>[], now: Date): void {
  if (inForce.length < mostSecrets) return;
  const ends = inForce.flatMap(({ valid_until }) => (valid_until ? [valid_until.getTime()] : []));
  throw fail('rate_limited', {
    message: `The secret of this endpoint was rolled ${mostSecrets - 1} times within 24 hours. Try again when the first of those is over, or delete the endpoint and create another.`,
    retry_after_ms: Math.max(1000, Math.min(...ends) - now.getTime()),
  });
}

/** Those of the wanted values that the row does not have already. */
export function differences(row: EndpointRow, wanted: Partial<EndpointFields>): Partial<EndpointFields> {
  const entries = Object.entries(wanted) as [keyof EndpointFields, unknown][];
  return Object.fromEntries(
    entries.filter(([field, value]) => value !== undefined && !isDeepStrictEqual(row[field], value)),
  );
}

export function assertNotFileManaged({ managed_by }: Pick<EndpointRow, 'managed_by'>): void {
  if (managed_by !== 'file') return;
  throw fail('managed_by_file', {
    message: 'The deployment file declares this endpoint under `webhooks`: change it there and apply the file again.',
  });
}
