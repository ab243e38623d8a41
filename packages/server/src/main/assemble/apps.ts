import { type AppSignIn, createAppSignIn } from '../../adapters/app-sign-in/app-sign-in.ts';
import type { Outbound } from '../../adapters/outbound/fetcher.ts';
import { type Catalogue, readCatalogue } from '../../domains/apps/api.ts';
import type { Config } from '../config.ts';

/** The apps that users can connect, and how they sign in there. */
export type Apps = { catalogue: Catalogue; signIn: AppSignIn };

export function assembleApps({
  config,
  outbound,
  refuseAddress,
}: {
  config: Config;
  outbound: Outbound;
  refuseAddress: (address: string) => string | null;
}): Apps {
  return {
    catalogue: readCatalogue({ file: config.appsFile, refuseAddress }),
    signIn: createAppSignIn({ outbound, refuseAddress }),
  };
}
