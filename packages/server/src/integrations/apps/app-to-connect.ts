import { fail } from '@vestra/contract/errors';
import type { SignInFailure } from '../app-sign-in/sign-in-failure.ts';
import type { SignInFacts } from '../app-sign-in/sign-in-server.ts';
import type { App } from './app.ts';
import type { Catalogue } from './catalogue.ts';

export function appToConnect(catalogue: Catalogue, appId: string): App {
  const app = catalogue.find(appId);
  if (!app) throw fail('app_not_found', { param: 'app' });
  if (!app.connectable) throw fail('app_not_connectable', { param: 'app' });
  return app;
}

export function appToSignInTo(catalogue: Catalogue, appId: string): { app: App; facts: SignInFacts } {
  const app = appToConnect(catalogue, appId);
  if (!app.sign_in) {
    const message = `Nobody signs in to ${app.name}: it takes a key of the user’s as \`api_key\`.`;
    throw fail('oauth_not_available', { param: 'app', message });
  }
  return { app, facts: app.sign_in.facts };
}

export const missingClient = ({ id, name, sign_in }: App, redirectUri: string) =>
  fail('app_not_connectable', {
    param: 'app',
    message: `${name} takes only clients that were registered by hand. Register one${sign_in?.register_at ? ` at ${sign_in.register_at}` : ''} with the redirect address ${redirectUri}, and give it with PUT /v1/apps/${id}/client.`,
  });

export const signInRefusal = ({ reason, message }: SignInFailure) =>
  reason === 'unavailable'
    ? fail('mcp_server_error', { message: `${message} Try again later.` })
    : fail('oauth_not_available', { param: 'app', message });
