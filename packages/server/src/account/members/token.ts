import { createHash, randomBytes } from 'node:crypto';

/** A secret that leaves this process once; the database keeps its hash alone. */
export function newToken(prefix = ''): { token: string; hash: Buffer } {
  const token = `${prefix}${randomBytes(32).toString('base64url')}`;
  return { token, hash: hashToken(token) };
}

/** 32 random bytes need no slow hash: there is nothing to guess. */
export const hashToken = (token: string): Buffer => createHash('sha256').update(token, 'utf8').digest();
