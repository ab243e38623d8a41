import { hash, randomBytes } from 'node:crypto';
import { fail } from '@vestra/contract/errors';
import type { Mode, Scope } from '@vestra/contract/route';

export type KeySecret = { secret: string; hash: Buffer; last4: string };

/** The secret leaves this process once, in the answer of the call that made it. */
export function newKeySecret(mode: Mode): KeySecret {
  const secret = `vk_${mode}_${randomBytes(32).toString('base64url')}`;
  return { secret, hash: hashSecret(secret), last4: secret.slice(-4) };
}

/** 32 random bytes need no slow hash: there is nothing to guess. */
export const hashSecret = (secret: string): Buffer => hash('sha256', secret, 'buffer');

/** A key makes only keys that can do no more than itself, and a test key makes no live one. */
export function refuseStrongerKey(
  maker: { mode: Mode; scopes: readonly Scope[]; isMember: boolean },
  wanted: { mode: Mode; scopes: readonly Scope[] },
): void {
  if (wanted.mode === 'live' && maker.mode === 'test' && !maker.isMember)
    throw fail('live_key_required', { param: 'mode' });
  const missing = maker.scopes.includes('all')
    ? undefined
    : wanted.scopes.find((scope) => !maker.scopes.includes(scope));
  if (missing) {
    throw fail('scope_missing', {
      param: 'scopes',
      message: `This key does not hold the scope \`${missing}\` itself.`,
    });
  }
}
