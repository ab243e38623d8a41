import { createHash, randomBytes } from 'node:crypto';
import { consoleCookie } from '@vestra/contract/members';

/** A session ends after this long without use, and at the latest after the maximum from its login. */
export const idleSeconds = 12 * 3600;
export const maxSessionSeconds = 7 * 24 * 3600;
/** An active session is renewed at most this often, so that most requests cost no write. */
export const renewalSeconds = 600;
/** A sign-in must be finished within this time. */
export const attemptSeconds = 600;

/**
 * Browsers accept the prefix `__Host-` only over https and only from the host itself. So a sibling host cannot replace
 * a member's session. They reject it over http, which developers use locally.
 */
const nameOf = (name: string, isSecure: boolean) => (isSecure ? `__Host-${name}` : name);

/** HttpOnly hides the token from scripts. Lax keeps it out of forms on other sites. */
export const sessionCookie = (token: string, isSecure: boolean): string =>
  cookie(consoleCookie, token, maxSessionSeconds, isSecure);

export const clearedCookie = (isSecure: boolean): string => cookie(consoleCookie, '', 0, isSecure);

/** The cookie of an unfinished sign-in. It must be Lax, because the provider's site links back here. */
export const attemptCookie = (token: string, isSecure: boolean): string =>
  cookie(attemptName, token, attemptSeconds, isSecure);

export const clearedAttemptCookie = (isSecure: boolean): string => cookie(attemptName, '', 0, isSecure);

const attemptName = 'vestra_sign_in';

const browserName = 'vestra_browser';
const browserSeconds = 180 * 24 * 3600;

/** Marks a browser in which somebody has signed in. It stays after the sign-out. */
export const browserCookie = (mark: string, isSecure: boolean): string =>
  cookie(browserName, mark, browserSeconds, isSecure);

export const readBrowserMark = (headers: Headers, publicUrl: string): string | null =>
  readCookie(headers, nameOf(browserName, isSecureRequest(headers, publicUrl)));

const cookie = (name: string, value: string, maxAge: number, isSecure: boolean): string =>
  `${nameOf(name, isSecure)}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAge}${isSecure ? '; Secure' : ''}`;

/** A proxy reports the scheme of the browser in a header. A forged header only affects the sender's own cookie. */
export function isSecureRequest(headers: Headers, publicUrl: string): boolean {
  const forwarded = headers.get('x-forwarded-proto')?.split(',')[0]?.trim().toLowerCase();
  return forwarded === 'https' || publicUrl.startsWith('https://');
}

export const readSessionToken = (headers: Headers, publicUrl: string): string | null =>
  readCookie(headers, nameOf(consoleCookie, isSecureRequest(headers, publicUrl)));

export const readAttemptToken = (headers: Headers, publicUrl: string): string | null =>
  readCookie(headers, nameOf(attemptName, isSecureRequest(headers, publicUrl)));

function readCookie(headers: Headers, wanted: string): string | null {
  for (const pair of headers.get('cookie')?.split(';') ?? []) {
    const [name, value] = pair.trim().split('=', 2);
    if (name === wanted && value) return value;
  }
  return null;
}

/** Creates a secret that leaves this process once. The database stores only its hash. */
export function newToken(prefix = ''): { token: string; hash: Buffer } {
  const token = `${prefix}${randomBytes(32).toString('base64url')}`;
  return { token, hash: hashToken(token) };
}

/** A slow hash is not needed: 32 random bytes cannot be guessed. */
export const hashToken = (token: string): Buffer => createHash('sha256').update(token, 'utf8').digest();
