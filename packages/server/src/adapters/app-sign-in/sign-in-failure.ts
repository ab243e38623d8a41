import type { SignInFailure } from './app-sign-in.ts';

const failure = (reason: SignInFailure['reason'], message: string): SignInFailure => ({
  ok: false,
  reason,
  isClientUnknown: false,
  message,
});
export const notOffered = (message: string) => failure('not_offered', message);
export const refused = (message: string) => failure('refused', message);
export const unavailable = (message: string) => failure('unavailable', message);
