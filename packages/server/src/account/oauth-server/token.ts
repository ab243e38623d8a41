import { hash, randomBytes } from 'node:crypto';

/** Within this a client fetches its tokens after the member has said yes. */
export const codeSeconds = 60;
export const accessSeconds = 3600;
/** A client that has not renewed its access for so long is shut out. */
export const unusedDays = 30;

const prefixes = { code: 'vmc_', access: 'vma_', refresh: 'vmr_' } as const;

/** The secret leaves this process once, in the answer of the call that made it. */
export function newSecret(kind: keyof typeof prefixes): { secret: string; hash: Buffer } {
  const secret = `${prefixes[kind]}${randomBytes(32).toString('base64url')}`;
  return { secret, hash: hashSecret(secret) };
}

/** 32 random bytes need no slow hash: there is nothing to guess. */
export const hashSecret = (secret: string): Buffer => hash('sha256', secret, 'buffer');

/** Whether the verifier is the one whose S256 challenge was sent (RFC 7636). */
export const fitsChallenge = (verifier: string, challenge: string): boolean =>
  /^[A-Za-z0-9\-._~]{43,128}$/.test(verifier) && hash('sha256', verifier, 'base64url') === challenge;

/** An answer can be lost on its way, and two requests of a client can come at once: then it asks again with the same token. */
export const graceMs = 60_000;

/**
 * What the use of a refresh token means. The newest generation is exchanged for the next one. Its predecessor gets further
 * tokens of the newest for a moment. Whatever is older was used before: somebody else has it too.
 */
export function meaningOfUse(
  token: { generation: number },
  grant: { generation: number; renewedMsAgo: number },
): 'next' | 'again' | 'stolen' {
  if (token.generation === grant.generation) return 'next';
  return token.generation === grant.generation - 1 && grant.renewedMsAgo < graceMs ? 'again' : 'stolen';
}
