import type { Mode } from '@vestra/contract/route';
import type { Tenant } from '../platform/caller.ts';
import { noSuchModel } from '../platform/config/no-such-model.ts';
import type { Executor, Transaction } from '../platform/db/pool.ts';
import { lazyRoutes, onFirstCall } from '../platform/http/handler.ts';
import type { Kernel } from '../platform/kernel.ts';
import { anHour, type Registration } from '../platform/registration.ts';
import { auditRoutes, pruneAudit } from './audit/audit-log.ts';
import { eraseEventsAbout, eraseEventsOfUser, eventRoutes, pruneEvents } from './events/events.ts';
import { createKeyIdentity } from './keys/key-identity.ts';
import { keyRoutes } from './keys/keys.ts';
import { createConsoleIdentity } from './members/account.ts';
import { pruneConsoleSessions } from './members/console-sessions.ts';
import { prunePasswordResets, pruneSignInAttempts } from './members/login-store.ts';
import { pruneRegistered } from './oauth-server/clients.ts';
import { endGrantsOf, pruneGrants } from './oauth-server/grants.ts';
import { createGrantIdentity, pruneTokens } from './oauth-server/tokens.ts';
import { limitRoutes, meRoutes, orgRoutes } from './orgs/routes.ts';
import { removeSecretsOfUser, secretRoutes } from './secrets/secrets.ts';
import { auditPartitions, eventPartitions } from './tables.ts';

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
      const memberModule = () => import('./members/routes.ts');
      // Both families use the same providers.
      const signInModule = onFirstCall(async () => {
        const { createIdentityProviders } = await import('./members/identity/identity-provider.ts');
        const identityProviders = createIdentityProviders({ outbound, refuseAddress });
        const { identityProviderRoutes, signInRoutes } = await import('./members/identity/routes.ts');
        const signIns = { ...members, vault, identityProviders, assertCallable };
        return { identityProvider: identityProviderRoutes(signIns), consoleSignIn: signInRoutes(signIns) };
      });
      return {
        events: eventRoutes({ db }),
        me: meRoutes(orgs),
        orgs: orgRoutes(orgs),
        limits: limitRoutes(orgs),
        keys: keyRoutes({ db, identity: keyIdentity, ended }),
        mcpGrants: lazyRoutes('mcpGrants', async () =>
          (await import('./oauth-server/routes.ts')).mcpGrantRoutes(granting),
        ),
        oauth: lazyRoutes('oauth', async () => (await import('./oauth-server/routes.ts')).oauthRoutes(granting)),
        members: lazyRoutes('members', async () => (await memberModule()).memberRoutes({ ...members, mcpClients })),
        consoleAccess: lazyRoutes('consoleAccess', async () => {
          const { createKnownBrowsers } = await import('./members/login-throttle.ts');
          const browsers = createKnownBrowsers(kernel.signingSecret);
          return (await memberModule()).consoleRoutes({ ...members, mcpClients, browsers });
        }),
        consoleAccount: lazyRoutes('consoleAccount', async () => (await memberModule()).accountRoutes(members)),
        consoleSignIn: lazyRoutes('consoleSignIn', async () => (await signInModule()).consoleSignIn),
        passkeys: lazyRoutes('passkeys', async () =>
          (await import('./members/passkeys/routes.ts')).passkeyRoutes(members),
        ),
        identityProvider: lazyRoutes('identityProvider', async () => (await signInModule()).identityProvider),
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
      { days: days.events, prune: pruneEvents, partitions: eventPartitions },
      { days: days.audit, prune: pruneAudit, partitions: auditPartitions },
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
