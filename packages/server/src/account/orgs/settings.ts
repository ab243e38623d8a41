import { fail } from '@vestra/contract/errors';
import { type Micros, microsToUsd, usdToMicros } from '@vestra/contract/money';
import type { Mode } from '@vestra/contract/route';
import type { Origin, Tenant } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { recordAudit } from '../audit/audit-log.ts';
import type { OrgSettings } from '../tables.ts';
import { findOrg, lockSettings, renameOrg, updateSettings } from './store.ts';

/** The name applies to both modes. All other fields change only in the mode of the request. */
export type OrgChanges = { name?: string } & Partial<
  Pick<
    OrgSettings,
    | 'allowed_return_urls'
    | 'allowed_embed_origins'
    | 'default_deployment'
    | 'require_user'
    | 'memory_panel'
    | 'memory_mode'
    | 'memory_endpoint'
    | 'otlp_endpoint'
    | 'otlp_headers_secret'
    | 'otlp_content'
    | 'model_fallbacks'
    | 'openings'
    | 'conversation_retention_days'
    | 'improvement_conversations'
  >
>;

export async function changeOrg(tx: Transaction, origin: Origin, { name, ...changes }: OrgChanges): Promise<void> {
  const before = await lockSettings(tx, origin);
  const after = { ...before, ...changes };
  if (after.memory_mode === 'customer' && after.memory_endpoint === null) {
    throw fail('memory_endpoint_required', { param: 'memory_mode' in changes ? 'memory_mode' : 'memory_endpoint' });
  }
  await updateSettings(tx, origin, changes);
  if (name !== undefined) await renameOrg(tx, origin.orgId, name);
  await recordAudit(tx, origin, {
    action: 'org.updated',
    target: { type: 'org', id: origin.orgId },
    details: { changed: [...(name === undefined ? [] : ['name']), ...Object.keys(changes)] },
  });
}

export async function changeLimits(
  tx: Transaction,
  origin: Origin,
  wanted: { caps?: Parameters<typeof changedCaps>[2]; thresholds?: number[] },
  capsChange: (tx: Transaction, tenant: Tenant) => Promise<void>,
): Promise<void> {
  await capsChange(tx, origin);
  const before = await lockSettings(tx, origin);
  const { max_org_daily_micros: ceiling } = await findOrg(tx, origin.orgId);
  const caps = wanted.caps ? changedCaps(before, ceiling, wanted.caps) : {};
  const thresholds = wanted.thresholds ? { alert_thresholds: sortedOnce(wanted.thresholds) } : {};
  await updateSettings(tx, origin, { ...caps, ...thresholds });
  await recordAudit(tx, origin, {
    action: 'limits.updated',
    target: { type: 'org', id: origin.orgId },
    details: { caps: wanted.caps ?? {}, ...(wanted.thresholds && { thresholds: wanted.thresholds }) },
  });
}

const sortedOnce = (numbers: readonly number[]) => [...new Set(numbers)].sort((a, b) => a - b);

type WantedCaps = {
  org_daily_usd?: number | null | undefined;
  user_daily_usd?: number | null | undefined;
  org_monthly_usd?: number | null | undefined;
  user_monthly_usd?: number | null | undefined;
};

type CapColumns = Pick<
  OrgSettings,
  'org_daily_micros' | 'user_daily_micros' | 'org_monthly_micros' | 'user_monthly_micros'
>;

/** Returns the changed caps. The org's daily cap may not exceed its ceiling, nor a user's cap the org's. */
function changedCaps(row: CapColumns, ceiling: Micros, wanted: WantedCaps): CapColumns {
  const next: CapColumns = {
    org_daily_micros: chosen(wanted.org_daily_usd, row.org_daily_micros),
    user_daily_micros: chosen(wanted.user_daily_usd, row.user_daily_micros),
    org_monthly_micros: chosen(wanted.org_monthly_usd, row.org_monthly_micros),
    user_monthly_micros: chosen(wanted.user_monthly_usd, row.user_monthly_micros),
  };
  refuseAbove('org_daily_usd', next.org_daily_micros, ceiling, 'the ceiling of the org');
  refuseAbove('user_daily_usd', next.user_daily_micros, next.org_daily_micros, 'the org’s own daily cap');
  refuseAbove('user_monthly_usd', next.user_monthly_micros, next.org_monthly_micros, 'the org’s own monthly cap');
  return next;
}

function chosen(wanted: number | null | undefined, kept: Micros | null): Micros | null {
  if (wanted === undefined) return kept;
  return wanted === null ? null : usdToMicros(wanted);
}

function refuseAbove(cap: string, value: Micros | null, ceiling: Micros | null, what: string): void {
  if (value === null || ceiling === null || value <= ceiling) return;
  throw fail('cap_above_maximum', {
    param: `caps.${cap}`,
    message: `${microsToUsd(value)} is above ${what}, ${microsToUsd(ceiling)} US dollars.`,
  });
}

/** Origins go into a header that is separated by spaces, commas and semicolons, so hosts must not contain them. */
const host = /^(?:\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)$/;

/** Hosts of pages under development. For any other browser they name its own machine, so they are safe to allow. */
const ownMachine = new Set(['localhost', '127.0.0.1']);

/** The origin that a text without a scheme, or with a path, was probably meant to be; null if there is none. */
function meantOrigin(text: string): string | null {
  const name = /^(?:https?:\/\/)?([\w.-]+)(?::\d+)?(?:\/|$)/i.exec(text)?.[1]?.toLowerCase();
  if (name === undefined) return null;
  const scheme = ownMachine.has(name) ? 'http' : 'https';
  return URL.parse(`${scheme}://${text.replace(/^https?:\/\//i, '')}`)?.origin ?? null;
}

/** Accepts `https://shop.example` and `https://shop.example:8443`, without a path, a user name or a wildcard. */
export function readEmbedOrigin(text: string, at: number, mode: Mode): string {
  const url = URL.parse(text);
  const isOrigin = url !== null && (text === url.origin || text === `${url.origin}/`) && host.test(url.hostname);
  const isReached = url?.protocol === 'https:' || (url?.protocol === 'http:' && ownMachine.has(url.hostname));
  if (!isOrigin || !isReached) {
    const meant = meantOrigin(text);
    throw fail('invalid_origin', {
      param: `allowed_embed_origins.${at}`,
      ...(meant !== null && { message: `An origin has a scheme and no path: write ${meant}.` }),
    });
  }
  if (url.protocol === 'http:' && mode === 'live') {
    throw fail('invalid_origin', {
      param: `allowed_embed_origins.${at}`,
      message: `${url.origin} is for test mode alone: live pages embed on https origins.`,
    });
  }
  return url.origin;
}
