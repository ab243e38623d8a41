import { serverUrl } from '../address.ts';

/** Where a browser begins at the org's own sign-in; `returnTo` is the page of the console that it goes on with. */
export const companySignIn = (org: string, returnTo: string): string =>
  `${serverUrl}/v1/console/sign-in/${org}?${new URLSearchParams({ return_to: returnTo })}`;
