import type { Origin } from '../../platform/caller.ts';

/** From where somebody signs in. `userAgent` is what the browser says of itself. */
export type Source = { requestId: string; ip: string; userAgent: string | null };

const longestUserAgent = 512;

export const sourceOf = ({ requestId, ip, headers }: { requestId: string; ip: string; headers: Headers }): Source => ({
  requestId,
  ip,
  userAgent: headers.get('user-agent')?.slice(0, longestUserAgent) ?? null,
});

/** What of it the audit log keeps. */
export type LoggedSource = Pick<Origin, 'requestId' | 'ip'>;
