import { createHash, randomBytes } from 'node:crypto';
import { consoleCookie } from '@vestra/contract/members';

/** A session ends this long after its last use, and this long after the login however much it was used. */
export const idleSeconds = 12 * 3600;
export const longestSeconds = 7 * 24 * 3600;
/** A session in use is written at most this often, so that a request costs no write. */
export const renewalSeconds = 600;
/** Within this a sign-in that has begun comes to its end. */
export const attemptSeconds = 600;

/**
 * Browsers take a name with this prefix by https alone, and from the very host that set it: a neighbouring host cannot
 * put its own session in the place of a member's. They refuse it by http, as on the machine of a developer.
 */
const nameOf = (name: string, isSecure: boolean) => (isSecure ? `__Host-${name}` : name);

/** HttpOnly keeps the token from scripts, Lax from the forms of other sites. */
export const sessionCookie = (token: string, isSecure: boolean): string =>
  cookie(consoleCookie, token, longestSeconds, isSecure);

export const clearedCookie = (isSecure: boolean): string => cookie(consoleCookie, '', 0, isSecure);

/** A sign-in that goes on elsewhere, or in the browser itself. Lax: it comes back by a link of another site. */
export const attemptCookie = (token: string, isSecure: boolean): string =>
  cookie(attemptName, token, attemptSeconds, isSecure);

export const clearedAttemptCookie = (isSecure: boolean): string => cookie(attemptName, '', 0, isSecure);

const attemptName = 'vestra_sign_in';

const cookie = (name: string, value: string, maxAge: number, isSecure: boolean): string =>
  `${nameOf(name, isSecure)}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAge}${isSecure ? '; Secure' : ''}`;

/**
 * A proxy in front says how the browser came. Whoever forges the header only keeps their own cookie from
 * travelling in the clear.
 */
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

/** A secret that leaves this process once; the database keeps its hash alone. */
export function newToken(prefix = ''): { token: string; hash: Buffer } {
  const token = `${prefix}${randomBytes(32).toString('base64url')}`;
  return { token, hash: hashToken(token) };
}

/** 32 random bytes need no slow hash: there is nothing to guess. */
export const hashToken = (token: string): Buffer => createHash('sha256').update(token, 'utf8').digest();
