import { createSign } from 'node:crypto';
import { ConnectionLost, VendorError } from '../fault.ts';
import { countOf, recordOf, textOf } from '../wires/json.ts';

/** The key of a service account, as in Google's key file. */
export type ServiceAccount = { clientEmail: string; privateKey: () => string; projectId: string; tokenUrl: string };

const scope = 'https://www.googleapis.com/auth/cloud-platform';
const patienceMs = 15_000;
/** A token that expires during a call is still valid for it, but one that expired before is not. */
const marginMs = 60_000;

/** Returns an access token, shared by all callers until shortly before it expires. */
export function createGoogleAccess(account: ServiceAccount, now: () => number = Date.now): () => Promise<string> {
  let known: { token: string; until: number } | null = null;
  let asking: Promise<string> | null = null;
  const ask = async () => {
    const { token, seconds } = await newToken(account, now());
    known = { token, until: now() + seconds * 1000 - marginMs };
    return token;
  };
  return () => {
    if (known && now() < known.until) return Promise.resolve(known.token);
    asking ??= ask().finally(() => {
      asking = null;
    });
    return asking;
  };
}

/** Google's response is never repeated, because it may quote the request. */
async function newToken({ clientEmail, privateKey, tokenUrl }: ServiceAccount, now: number) {
  const issued = Math.floor(now / 1000);
  const claims = { iss: clientEmail, scope, aud: tokenUrl, iat: issued, exp: issued + 3600 };
  const text = [{ alg: 'RS256', typ: 'JWT' }, claims].map(base64url).join('.');
  const assertion = `${text}.${createSign('RSA-SHA256').update(text).sign(privateKey(), 'base64url')}`;
  const grant_type = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
  const response = await fetch(tokenUrl, {
    method: 'POST',
    body: new URLSearchParams({ grant_type, assertion }),
    redirect: 'error',
    signal: AbortSignal.timeout(patienceMs),
  }).catch(() => {
    throw new ConnectionLost();
  });
  const answer = recordOf(await response.json().catch(() => null));
  const token = textOf(answer.access_token);
  // Every fault of a key is reported as a rejected key.
  if (!response.ok || token === '') throw new VendorError(response.status >= 500 ? 503 : 401, '', [], null);
  return { token, seconds: countOf(answer.expires_in) || 3600 };
}

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
