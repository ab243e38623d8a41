import { fail } from '@vestra/contract/errors';
import { type Micros, microsToUsd } from '@vestra/contract/money';
import type { Mode } from '@vestra/contract/route';
import type { Origin, Tenant } from '../../platform/caller.ts';
import { batchReads } from '../../platform/db/batch-concurrent-calls.ts';
import type { Database, Executor, Transaction } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import { changeLimits, changeOrg, type OrgChanges, readEmbedOrigin } from './settings.ts';
import { findOrgsInMode, type OrgInMode } from './store.ts';

type OrgDependencies = {
  db: Database;
  requestsPerMinute: number;
  /** The balance of each tenant's wallet. */
  balancesOf: (db: Executor, tenants: readonly Tenant[]) => Promise<Micros[]>;
  /** Throws an error on `param` if the server must not call the address. */
  assertCallable: (address: string, param: string) => void;
  /** Finds the id of a deployment by its name, slug or id. */
  findDeployment: (tx: Transaction, orgId: string, reference: string) => Promise<string>;
  /** Called when the org gets another default deployment. */
  defaultGiven: (tx: Transaction, tenant: Tenant) => Promise<void>;
  /** Replaces the secret that signs requests to the org's memory endpoint. */
  rollMemorySecret: (tx: Transaction, origin: Origin) => Promise<RolledSecret>;
  /** Lists the deployments whose agents ask the org's memory endpoint in this mode. */
  deploymentsOfCustomerMemory: (tx: Transaction, tenant: Tenant) => Promise<string[]>;
  /** Called before the org's caps or alert thresholds change, in the same transaction. */
  capsChange: (tx: Transaction, tenant: Tenant) => Promise<void>;
  /** The reason why agents cannot use this model in the mode, or null. */
  refuseModel: (mode: Mode, id: string) => string | null;
};

export function orgRoutes(deps: OrgDependencies): Handlers<'orgs'> {
  const { db, balancesOf } = deps;
  const findInMode = batchedOrgReads(db);
  const balanceOf = batchReads((tenants: Tenant[]) => balancesOf(db, tenants));
  return {
    get: async ({ caller }) => presentOrg(...(await Promise.all([findInMode(caller), balanceOf(caller)]))),
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
        if (body.memory_endpoint === null) await assertNoCustomerMemory(deps, tx, caller);
        if (body.default_deployment !== undefined) await deps.defaultGiven(tx, caller);
        const [balance] = await balancesOf(tx, [caller]);
        return presentOrg(await orgInMode(tx, caller), balance as Micros);
      });
    },
    rollMemorySecret: ({ origin, commit }) => commit((tx) => deps.rollMemorySecret(tx, origin)),
  };
}

/** Without its endpoint an agent of such a deployment would forget its users without a word. */
async function assertNoCustomerMemory(deps: OrgDependencies, tx: Transaction, tenant: Tenant): Promise<void> {
  const slugs = await deps.deploymentsOfCustomerMemory(tx, tenant);
  if (slugs.length === 0) return;
  const named = slugs.map((slug) => `\`${slug}\``).join(', ');
  throw fail('memory_endpoint_required', {
    param: 'memory_endpoint',
    deployments: slugs,
    message: `In ${tenant.mode} mode these deployments leave memory to the customer: ${named}. Change their \`memory\` first.`,
  });
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

export function limitRoutes({ db, requestsPerMinute, capsChange }: OrgDependencies): Handlers<'limits'> {
  const findInMode = batchedOrgReads(db);
  return {
    get: async ({ caller }) => presentLimits(await findInMode(caller), requestsPerMinute),
    update: async ({ origin, body }) => {
      await transaction(db, (tx) =>
        changeLimits(
          tx,
          origin,
          {
            ...(body.caps && { caps: body.caps }),
            ...(body.usage_alerts && { thresholds: body.usage_alerts.thresholds }),
          },
          capsChange,
        ),
      );
      return presentLimits(await orgInMode(db, origin), requestsPerMinute);
    },
  };
}

async function orgInMode(db: Executor, tenant: Tenant): Promise<OrgInMode> {
  const [found] = await findOrgsInMode(db, [tenant]);
  return requireFound(found, tenant);
}

/** Batches concurrent reads: requests that arrive during a read share the next one. */
function batchedOrgReads(db: Database): (tenant: Tenant) => Promise<OrgInMode> {
  const read = batchReads((tenants: Tenant[]) => findOrgsInMode(db, tenants));
  return async (tenant) => requireFound(await read(tenant), tenant);
}

function requireFound(found: OrgInMode | undefined, { orgId, mode }: Tenant): OrgInMode {
  if (!found) throw new Error(`Org ${orgId} has no row for ${mode} mode.`);
  return found;
}

export function meRoutes({ db }: Pick<OrgDependencies, 'db'>): Handlers<'me'> {
  const findInMode = batchedOrgReads(db);
  return {
    get: async ({ caller }) => ({
      object: 'me',
      // Read the name again: the cached caller may be a second old, and the org may have been renamed.
      org: { id: caller.orgId, name: (await findInMode(caller)).org.name, status: caller.orgStatus },
      mode: caller.mode,
      key: caller.key,
      member: caller.member ? { role: caller.member.role } : caller.grant && { role: caller.grant.role },
    }),
  };
}

const usdOrNull = (micros: Micros | null) => (micros === null ? null : microsToUsd(micros));

const presentCaps = ({ org, settings }: OrgInMode) => ({
  org_daily_usd: usdOrNull(settings.org_daily_micros),
  user_daily_usd: usdOrNull(settings.user_daily_micros),
  max_org_daily_usd: microsToUsd(org.max_org_daily_micros),
  org_monthly_usd: usdOrNull(settings.org_monthly_micros),
  user_monthly_usd: usdOrNull(settings.user_monthly_micros),
});

const presentOrg = ({ org, settings }: OrgInMode, balance: Micros) => ({
  object: 'org' as const,
  id: org.id,
  name: org.name,
  status: org.status,
  mode: settings.mode,
  allowed_return_urls: settings.allowed_return_urls,
  allowed_embed_origins: settings.allowed_embed_origins,
  default_deployment: settings.default_deployment,
  require_user: settings.require_user,
  memory_panel: settings.memory_panel,
  memory_mode: settings.memory_mode,
  memory_endpoint: settings.memory_endpoint,
  otlp_endpoint: settings.otlp_endpoint,
  otlp_headers_secret: settings.otlp_headers_secret,
  otlp_content: settings.otlp_content,
  model_fallbacks: settings.model_fallbacks,
  openings: settings.openings,
  conversation_retention_days: settings.conversation_retention_days,
  improvement_conversations: settings.improvement_conversations,
  balance_usd: microsToUsd(balance),
  caps: presentCaps({ org, settings }),
  usage_alerts: { thresholds: settings.alert_thresholds },
  created_at: org.created_at.toISOString(),
});

const presentLimits = ({ org, settings }: OrgInMode, requestsPerMinute: number) => ({
  object: 'limits' as const,
  caps: presentCaps({ org, settings }),
  usage_alerts: { thresholds: settings.alert_thresholds },
  rate_limits: { requests_per_minute: requestsPerMinute, burst: requestsPerMinute },
});
