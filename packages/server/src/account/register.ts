import type { Mode } from '@vestra/contract/route';
import type { Tenant } from '../platform/caller.ts';
import { noSuchModel } from '../platform/config/no-such-model.ts';
import type { Executor, Transaction } from '../platform/db/pool.ts';
import type { Kernel } from '../platform/kernel.ts';
import { anHour, type Registration } from '../platform/registration.ts';
import { auditRoutes, pruneAudit } from './audit/audit-log.ts';
import { eraseEventsAbout, eraseEventsOfUser, eventRoutes, pruneEvents } from './events/events.ts';
import { createKeyIdentity } from './keys/key-identity.ts';
import { keyRoutes } from './keys/keys.ts';
import { createConsoleIdentity } from './members/account.ts';
import { pruneConsoleSessions } from './members/console-sessions.ts';
import { createIdentityProviders } from './members/identity/identity-provider.ts';
import { identityProviderRoutes, signInRoutes } from './members/identity/routes.ts';
import { createKnownBrowsers } from './members/known-browsers.ts';
import { prunePasswordResets } from './members/login-store.ts';
import { passkeyRoutes } from './members/passkeys/routes.ts';
import { accountRoutes, consoleRoutes, memberRoutes } from './members/routes.ts';
import { pruneSignInAttempts } from './members/sign-in-attempts.ts';
import { pruneRegistered } from './oauth-server/clients.ts';
import { endGrantsOf, pruneGrants } from './oauth-server/grants.ts';
import { oauthRoutes } from './oauth-server/oauth-routes.ts';
import { mcpGrantRoutes } from './oauth-server/routes.ts';
import { createGrantIdentity, pruneTokens } from './oauth-server/tokens.ts';
import { limitRoutes, meRoutes, orgRoutes } from './orgs/routes.ts';
import { removeSecretsOfUser, secretRoutes } from './secrets/secrets.ts';

/** Knowledge of higher modules that org settings refer to. */
export type AccountPorts = {
  balancesOf: (db: Executor, wanted: readonly Tenant[]) => Promise<bigint[]>;
  findDeployment: (tx: Transaction, orgId: string, reference: string) => Promise<string>;
  rollMemorySecret: Parameters<typeof orgRoutes>[0]['rollMemorySecret'];
  deploymentsOfCustomerMemory: Parameters<typeof orgRoutes>[0]['deploymentsOfCustomerMemory'];
  capsChange: Parameters<typeof orgRoutes>[0]['capsChange'];
  defaultGiven: Parameters<typeof orgRoutes>[0]['defaultGiven'];
};

export function register(kernel: Kernel, ports: AccountPorts): Registration {
  const { config, db, vault, outbound, processNews, assertCallable, refuseAddress } = kernel;
  const { requestsPerMinute, retentionDays: days } = config;
  const keyIdentity = createKeyIdentity(db);
  const ended = (credentialId: string) => processNews.notify('credential', credentialId);
  const orgs = {
    ...ports,
    db,
    requestsPerMinute,
    assertCallable,
    refuseModel: (mode: Mode, id: string) => {
      const model = kernel.models.catalogue.find(mode, id);
      if (!model) return noSuchModel(kernel.models.catalogue, id);
      return model.isRefused || model.isRetired ? model.unavailable_reason : null;
    },
  };
  return {
    routes({ publicUrl, rateLimiter }) {
      const members = { db, rateLimiter, publicUrl };
      const issuer = publicUrl.replace(/\/+$/, '');
      const granting = { issuer, resource: `${issuer}/v1/mcp`, db, outbound, rateLimiter, ended };
      const mcpClients = { endAll: endGrantsOf, ended };
      const identityProviders = createIdentityProviders({ outbound, refuseAddress });
      const signIns = { ...members, vault, identityProviders, assertCallable };
      return {
        events: eventRoutes({ db }),
        me: meRoutes(orgs),
        orgs: orgRoutes(orgs),
        limits: limitRoutes(orgs),
        keys: keyRoutes({ db, identity: keyIdentity, ended }),
        mcpGrants: mcpGrantRoutes(granting),
        oauth: oauthRoutes(granting),
        members: memberRoutes({ ...members, mcpClients }),
        consoleAccess: consoleRoutes({ ...members, mcpClients, browsers: createKnownBrowsers(kernel.signingSecret) }),
        consoleAccount: accountRoutes(members),
        consoleSignIn: signInRoutes(signIns),
        passkeys: passkeyRoutes(members),
        identityProvider: identityProviderRoutes(signIns),
        secrets: secretRoutes({ db, vault }),
        auditLog: auditRoutes({ db }),
      };
    },
    identities: ({ publicUrl }) => ({
      ...keyIdentity,
      ...createGrantIdentity(db),
      ...createConsoleIdentity(db, publicUrl),
    }),
    retention: [
      { days: days.events, prune: pruneEvents },
      { days: days.audit, prune: pruneAudit },
    ],
    expiry: [
      { days: anHour, prune: pruneConsoleSessions },
      { days: anHour, prune: prunePasswordResets },
      { days: anHour, prune: pruneSignInAttempts },
      { days: anHour, prune: pruneTokens },
      { days: anHour, prune: pruneGrants },
      { days: 30, prune: pruneRegistered },
    ],
    objectErasure: [eraseEventsAbout],
    erasure: [removeSecretsOfUser, eraseEventsOfUser],
  };
}
