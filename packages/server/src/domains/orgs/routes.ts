import { fail } from '@vestra/contract/errors';
import type { Micros } from '@vestra/contract/money';
import type { Mode } from '@vestra/contract/route';
import type { Origin, Tenant } from '../../caller.ts';
import type { Database, Executor, Transaction } from '../../db/pool.ts';
import { transaction } from '../../db/transaction.ts';
import type { Handlers } from '../../http/handler.ts';
import { readEmbedOrigin } from './origin.ts';
import { presentLimits, presentOrg } from './present.ts';
import { findOrg, findSettings } from './store.ts';
import { changeLimits, changeOrg, type OrgChanges } from './update.ts';

export type OrgDependencies = {
  db: Database;
  requestsPerMinute: number;
  balanceOf: (db: Executor, tenant: Tenant) => Promise<Micros>;
  /** Refuses an address that the server must not call; says so on `param`. */
  assertCallable: (address: string, param: string) => void;
  /** The id behind a name, slug or id of a deployment of this org. */
  findDeployment: (tx: Transaction, orgId: string, reference: string) => Promise<string>;
  /** A new secret for the calls to the org's memory endpoint. */
  rollMemorySecret: (tx: Transaction, origin: Origin) => Promise<RolledSecret>;
  /** Why no agent can be given this model in the mode; null where one can. */
  refuseModel: (mode: Mode, id: string) => string | null;
};

export function orgRoutes(deps: OrgDependencies): Handlers<'orgs'> {
  const { db, balanceOf } = deps;
  return {
    get: async ({ caller }) => {
      const [org, balance] = await Promise.all([orgInMode(db, caller), balanceOf(db, caller)]);
      return presentOrg(org, balance);
    },
    update: async ({ caller, origin, body }) => {
      const changes: OrgChanges = {
        ...body,
        ...(body.allowed_embed_origins && {
          allowed_embed_origins: body.allowed_embed_origins.map((text, at) => readEmbedOrigin(text, at, caller.mode)),
        }),
      };
      if (body.memory_endpoint) deps.assertCallable(body.memory_endpoint, 'memory_endpoint');
      if (body.otlp_endpoint) deps.assertCallable(body.otlp_endpoint, 'otlp_endpoint');
      if (body.model_fallbacks) assertUsable(deps, caller.mode, body.model_fallbacks);
      return transaction(db, async (tx) => {
        if (body.default_deployment) {
          changes.default_deployment = await deps.findDeployment(tx, caller.orgId, body.default_deployment);
        }
        await changeOrg(tx, origin, changes);
        return presentOrg(await orgInMode(tx, caller), await balanceOf(tx, caller));
      });
    },
    rollMemorySecret: ({ origin, commit }) => commit((tx) => deps.rollMemorySecret(tx, origin)),
  };
}

type RolledSecret = { object: 'memory_endpoint'; url: string; secret: string };

function assertUsable({ refuseModel }: OrgDependencies, mode: Mode, fallbacks: Record<string, string[]>): void {
  for (const [deployment, ids] of Object.entries(fallbacks)) {
    for (const [at, id] of ids.entries()) {
      const message = refuseModel(mode, id);
      if (message !== null) throw fail('invalid_request', { param: `model_fallbacks.${deployment}.${at}`, message });
    }
  }
}

export function limitRoutes({ db, requestsPerMinute }: OrgDependencies): Handlers<'limits'> {
  return {
    get: async ({ caller }) => presentLimits(await orgInMode(db, caller), requestsPerMinute),
    update: async ({ origin, body }) => {
      await transaction(db, (tx) =>
        changeLimits(tx, origin, {
          ...(body.caps && { caps: body.caps }),
          ...(body.usage_alerts && { thresholds: body.usage_alerts.thresholds }),
        }),
      );
      return presentLimits(await orgInMode(db, origin), requestsPerMinute);
    },
  };
}

const orgInMode = async (db: Executor, tenant: Tenant) => ({
  org: await findOrg(db, tenant.orgId),
  settings: await findSettings(db, tenant),
});

export function meRoutes({ db }: Pick<OrgDependencies, 'db'>): Handlers<'me'> {
  return {
    get: async ({ caller }) => ({
      object: 'me',
      // Read anew: what is known of a caller may be a second old, and the org may have just been renamed.
      org: { id: caller.orgId, name: (await findOrg(db, caller.orgId)).name, status: caller.orgStatus },
      mode: caller.mode,
      key: caller.key,
      member: caller.member && { role: caller.member.role },
    }),
  };
}
