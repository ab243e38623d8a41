import { serverUrl } from '../address.ts';

/** The URL that starts single sign-on of the org. `returnTo` is the console page to continue with. */
export const companySignIn = (org: string, returnTo: string): string =>
  `${serverUrl}/v1/console/sign-in/${org}?${new URLSearchParams({ return_to: returnTo })}`;
