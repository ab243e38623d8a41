import type { Api } from '@vestra/contract/api';
import type { AnswerOf } from '@vestra/contract/call';
import { createClient } from '@vestra/sdk/client';
import { VestraError } from '@vestra/sdk/errors';
import { useSyncExternalStore } from 'react';
import { consolePath, serverUrl } from '../address.ts';
import { showPasskey } from './passkey.ts';

export type ConsoleSession = AnswerOf<Api['consoleAccess']['session']>;

/** `ended`: the session has expired. The open page keeps its state until the next sign-in. */
type State = { status: 'in' | 'out' | 'ended'; session: ConsoleSession | null };

let state: State = { status: 'out', session: null };
const listeners = new Set<() => void>();
const publicClient = createClient({ baseUrl: serverUrl, retries: 2 });

function become(next: State): void {
  state = next;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

export const currentAccess = (): State => state;
export const useAccess = (): State => useSyncExternalStore(subscribe, currentAccess);

/** The session of the cookie, or null. */
export async function readSession(): Promise<ConsoleSession | null> {
  try {
    const session = await publicClient.consoleAccess.session();
    become({ status: 'in', session });
    return session;
  } catch (error) {
    if (!(error instanceof VestraError) || error.status !== 401) throw error;
    // A member who was signed in gets the sign-in dialog over the open page.
    become(state.session ? { ...state, status: 'ended' } : { status: 'out', session: null });
    return null;
  }
}

export async function signIn(fields: { email: string; password: string }): Promise<ConsoleSession> {
  const session = await publicClient.consoleAccess.login(fields);
  become({ status: 'in', session });
  return session;
}

/** `email` owns the expired session. Another member's passkey must not continue it. */
export async function signInWithPasskey(email?: string): Promise<ConsoleSession> {
  const { options } = await publicClient.passkeys.beginSignIn();
  const session = await publicClient.passkeys.signIn({ credential: await showPasskey(options) });
  return entered(session, email);
}

/** Adopts the session that single sign-on created in another tab of this browser. */
export async function takeSessionOfBrowser(email: string): Promise<ConsoleSession | null> {
  try {
    return entered(await publicClient.consoleAccess.session(), email);
  } catch (error) {
    if (!(error instanceof VestraError) || error.status !== 401) throw error;
    return null;
  }
}

function entered(session: ConsoleSession, email: string | undefined): ConsoleSession {
  if (email !== undefined && session.member.email !== email) location.assign(consolePath);
  else become({ status: 'in', session });
  return session;
}

export async function signOut(): Promise<void> {
  const headers = { 'x-csrf-token': state.session?.csrf_token ?? '' };
  await publicClient.consoleAccess.logout({}, { headers }).catch((error: unknown) => {
    if (!(error instanceof VestraError) || error.status !== 401) throw error;
  });
  become({ status: 'out', session: null });
}

export const acceptInvitation = (fields: { token: string; name: string; password: string }) =>
  publicClient.members.accept(fields);

export const resetPassword = (fields: { token: string; password: string }) =>
  publicClient.consoleAccess.resetPassword(fields);

/** Ends the session and resolves after the next sign-in, so that the failed call can be repeated. */
export async function signedInAgain(): Promise<void> {
  if (state.status === 'in') become({ status: 'ended', session: state.session });
  if (state.status !== 'ended') return new Promise(() => {});
  await new Promise<void>((resolve) => {
    const leave = subscribe(() => {
      if (state.status !== 'in') return;
      leave();
      resolve();
    });
  });
}
