/** `refused`: the answer will not change. `unavailable`: another time it may. */
export type SignInFailure = {
  ok: false;
  reason: 'not_offered' | 'refused' | 'unavailable';
  /** The authorization server does not know this client any more. */
  isClientUnknown: boolean;
  message: string;
};

const failure = (reason: SignInFailure['reason'], message: string): SignInFailure => ({
  ok: false,
  reason,
  isClientUnknown: false,
  message,
});
export const notOffered = (message: string) => failure('not_offered', message);
export const refused = (message: string) => failure('refused', message);
export const unavailable = (message: string) => failure('unavailable', message);
