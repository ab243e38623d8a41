import type { Outbound } from '../../platform/outbound/fetcher.ts';
import type { AppSignIn } from './sign-in-server.ts';

type Dependencies = {
  outbound: Pick<Outbound, 'fetch'>;
  /** Why a browser must not be sent to this address; null if it may. */
  refuseAddress: (url: string) => string | null;
  now?: () => number;
};

export function createAppSignIn({ outbound, refuseAddress, now = Date.now }: Dependencies): AppSignIn {
  // Loaded at the first sign-in: the official client costs 0.3 s and 34 MB, which every start would pay.
  const steps = () => import('./oauth-steps.ts');
  return {
    discover: async (serverUrl, facts) =>
      (await import('./discover.ts')).discover({ outbound, refuseAddress }, serverUrl, facts),
    register: async (server, about) => (await steps()).register({ outbound }, server, about),
    begin: async (server, with_) => (await steps()).begin(server, with_),
    exchange: async (server, with_) => (await steps()).exchange({ outbound, now }, server, with_),
    refresh: async (server, with_) => (await steps()).refresh({ outbound, now }, server, with_),
    revoke: async (server, with_) => (await steps()).revoke({ outbound }, server, with_),
  };
}
