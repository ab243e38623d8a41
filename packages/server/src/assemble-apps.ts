import { type AppSignIn, createAppSignIn } from './adapters/app-sign-in/app-sign-in.ts';
import { refuseAddress } from './adapters/outbound/address.ts';
import type { Outbound } from './adapters/outbound/fetcher.ts';
import type { Config } from './config.ts';
import { type Catalogue, readCatalogue } from './domains/apps/api.ts';

/** What the routes and the engine both need of apps. */
export type AppParts = { catalogue: Catalogue; signIn: AppSignIn };

export function assembleApps({ config, outbound }: { config: Config; outbound: Outbound }): AppParts {
  const refuse = (url: string) => refuseAddress(url, { allowPrivate: config.allowPrivateAddresses });
  return {
    catalogue: readCatalogue({ file: config.appsFile, refuseAddress: refuse }),
    signIn: createAppSignIn({ outbound, refuseAddress: refuse }),
  };
}
