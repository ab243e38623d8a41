import { createHash } from 'node:crypto';
import { fail } from '@vestra/contract/errors';
import { sharedNow } from '../../platform/db/clock.ts';
import type { AppClient, AppTokens } from '../app-sign-in/sign-in-server.ts';
import type { ConnectionRow } from './tables.ts';

/** A client as a sign-in keeps it: of one that was given, only which it is, so that its secret lies in one place. */
export type KeptClient = AppClient | { client_id: string; given: 'org' | 'operator' };

/** What a pending sign-in goes on with when the person comes back. */
export type PendingSecrets = { client: KeptClient; redirect_uri: string; verifier: string; connect_url: string };

/** What a connected app is called with. */
export type TokenSecrets = { client: KeptClient } & Pick<AppTokens, 'access_token' | 'refresh_token'>;
export type KeySecrets = { api_key: string };

export const pendingMs = 15 * 60_000;

/** A sign-in that nobody came back from has failed, whether or not anybody has written that down. */
export const statusOf = ({ status, expires_at }: ConnectionRow): ConnectionRow['status'] =>
  status === 'pending' && expires_at !== null && expires_at.getTime() <= sharedNow() ? 'failed' : status;

export const hashOfState = (state: string): Buffer => createHash('sha256').update(state).digest();

export const keyOfUser = (userId: string | null): string => userId ?? '';
export const userOf = ({ user_key }: Pick<ConnectionRow, 'user_key'>): string | null => user_key || null;

export function assertReturnUrl(returnUrl: string, allowed: readonly string[]): void {
  if (!isAllowedReturnUrl(returnUrl, allowed)) throw fail('return_url_not_allowed', { param: 'return_url' });
}

/** The whole address, but for its spelling: what a longer path or a query leads to is another page. */
export const isAllowedReturnUrl = (returnUrl: string, allowed: readonly string[]): boolean =>
  allowed.some((each) => URL.parse(each)?.href === URL.parse(returnUrl)?.href);

/** Where the person goes on, with what came of the sign-in. */
export function returnAddress(returnUrl: string, of: { id: string; status: 'connected' | 'failed' }): string {
  const url = new URL(returnUrl);
  url.searchParams.set('connection', of.id);
  url.searchParams.set('status', of.status);
  return url.href;
}
