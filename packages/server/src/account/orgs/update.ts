import { fail } from '@vestra/contract/errors';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { recordAudit } from '../audit/record.ts';
import { changedCaps } from './caps.ts';
import { findOrg, lockSettings, renameOrg, updateSettings } from './store.ts';
import type { OrgSettings } from './tables.ts';

/** The name is one for both modes; all else changes in the mode of the call alone. */
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
): Promise<void> {
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
