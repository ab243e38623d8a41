import { createHash, randomBytes } from 'node:crypto';
import { type Capability, capabilities } from '@vestra/contract/session-access';
import type { SessionRow } from './tables.ts';

export const sessionMs = 15 * 60_000;

/** The token leaves this process once, in the answer of the call that made it. */
export function newToken(): { token: string; hash: Buffer } {
  const token = `vst_${randomBytes(32).toString('base64url')}`;
  return { token, hash: hashToken(token) };
}

/** 32 random bytes need no slow hash: there is nothing to guess. */
export const hashToken = (token: string): Buffer => createHash('sha256').update(token, 'utf8').digest();

/** What follows `#` stays in the browser: the token reaches no server log and no Referer. */
export const pageUrl = (publicUrl: string, sessionId: string, token: string): string =>
  `${publicUrl}/session/${sessionId}#token=${token}`;

export function statusOf(
  { revoked_at, expires_at }: { revoked_at: Date | null; expires_at: Date },
  now: number,
): 'live' | 'expired' | 'revoked' {
  if (revoked_at) return 'revoked';
  return expires_at.getTime() <= now ? 'expired' : 'live';
}

export function switchedOn({ chat, screen, voice, memory }: SessionRow): Capability[] {
  const is: Record<Capability, boolean> = { chat, screen: screen !== 'false', voice: voice !== null, memory };
  return capabilities.filter((each) => is[each]);
}
