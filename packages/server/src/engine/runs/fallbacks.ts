import type { PricedModel } from '@vestra/models/prices';
import { findSettings } from '../../account/index.ts';
import { findDeployment } from '../../agents/deployments/index.ts';
import type { TurnRow } from '../records/tables.ts';
import type { Engine } from './ports.ts';

/** What the org has answer in this model's place while its vendor is away; what this mode may not run is passed over. */
export async function fallbacksOf(
  { db, models: { catalogue } }: Pick<Engine, 'db' | 'models'>,
  { org_id: orgId, mode, deployment_id }: TurnRow,
  instead: string,
): Promise<PricedModel[]> {
  const { model_fallbacks: all } = await findSettings(db, { orgId, mode });
  if (Object.keys(all).length === 0) return [];
  const slug = (await findDeployment(db, orgId, deployment_id))?.deployment.slug ?? '*';
  const ids = (Object.hasOwn(all, slug) ? all[slug] : all['*']) ?? [];
  return ids
    .filter((id) => id !== instead)
    .flatMap((id) => catalogue.find(mode, id) ?? [])
    .filter((model) => !model.isRefused);
}
