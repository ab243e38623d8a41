import { fail } from '@vestra/contract/errors';
import type { Origin } from '../../caller.ts';
import type { Transaction } from '../../db/pool.ts';
import { recordAudit } from '../audit/api.ts';
import { changedCaps } from './caps.ts';
import { lockOrg, updateOrg } from './store.ts';
import type { OrgRow } from './tables.ts';

export type OrgChanges = Partial<
  Pick<
    OrgRow,
    | 'name'
    | 'allowed_return_urls'
    | 'allowed_embed_origins'
    | 'default_deployment'
    | 'require_user'
    | 'memory_panel'
    | 'memory_mode'
    | 'memory_endpoint'
    | 'otlp_endpoint'
    | 'otlp_headers_secret'
  >
>;

export async function changeOrg(tx: Transaction, origin: Origin, changes: OrgChanges): Promise<OrgRow> {
  const before = await lockOrg(tx, origin.orgId);
  const after = { ...before, ...changes };
  if (after.memory_mode === 'customer' && after.memory_endpoint === null) {
    throw fail('memory_endpoint_required', { param: 'memory_mode' in changes ? 'memory_mode' : 'memory_endpoint' });
  }
  const row = await updateOrg(tx, origin.orgId, changes);
  await recordAudit(tx, origin, {
    action: 'org.updated',
    target: { type: 'org', id: origin.orgId },
    details: { changed: Object.keys(changes) },
  });
  return row;
}

export async function changeLimits(
  tx: Transaction,
  origin: Origin,
  wanted: { caps?: Parameters<typeof changedCaps>[1]; thresholds?: number[] },
): Promise<OrgRow> {
  const before = await lockOrg(tx, origin.orgId);
  const caps = wanted.caps ? changedCaps(before, wanted.caps) : {};
  const thresholds = wanted.thresholds ? { alert_thresholds: sortedOnce(wanted.thresholds) } : {};
  const row = await updateOrg(tx, origin.orgId, { ...caps, ...thresholds });
  await recordAudit(tx, origin, {
    action: 'limits.updated',
    target: { type: 'org', id: origin.orgId },
    details: { caps: wanted.caps ?? {}, ...(wanted.thresholds && { thresholds: wanted.thresholds }) },
  });
  return row;
}

const sortedOnce = (numbers: readonly number[]) => [...new Set(numbers)].sort((a, b) => a - b);
