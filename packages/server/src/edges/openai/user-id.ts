import { createHash } from 'node:crypto';
import { userId } from '@vestra/contract/user-id';

/**
 * The user for a text in `user`. OpenAI accepts any text, and some clients send an empty one. A valid id stays as it is.
 * Other text becomes a readable stem with a digest, so that the same text is always the same user and no other one.
 */
export function userIdFrom(given: string | null | undefined): string | undefined {
  if (given === null || given === undefined || given.trim() === '') return undefined;
  if (userId().safeParse(given).success) return given;
  const stem = given
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9._:@-]+/g, '-')
    .slice(0, maxStem)
    .replace(/^-+|-+$/g, '');
  return `${stem || 'user'}-${createHash('sha256').update(given).digest('hex').slice(0, 16)}`;
}

const maxStem = 80;
