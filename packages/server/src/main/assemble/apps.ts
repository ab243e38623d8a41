import { createAppSignIn } from '../../integrations/app-sign-in/app-sign-in.ts';
import type { AppSignIn } from '../../integrations/app-sign-in/sign-in-server.ts';
import { type AppCatalogue, readCatalogue } from '../../integrations/apps/catalogue.ts';
import type { Config } from '../../platform/config/config.ts';
import { withSettingsInFiles } from '../../platform/config/settings-in-files.ts';
import type { Outbound } from '../../platform/outbound/fetcher.ts';

/** The apps that users can connect, and how they sign in there. */
export type Apps = { catalogue: AppCatalogue; signIn: AppSignIn };

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
    catalogue: readCatalogue({
      file: config.appsFile,
      refuseAddress,
      env: (name) => withSettingsInFiles(process.env, [name])[name],
    }),
    signIn: createAppSignIn({ outbound, refuseAddress }),
  };
}
