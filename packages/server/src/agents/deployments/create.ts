import { fail } from '@vestra/contract/errors';
import { recordAudit } from '../../account/index.ts';
import type { Caller, Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import {
  changedKeys,
  type FixedContent,
  type GivenManifest,
  type Manifest,
  noFileObjects,
} from '../versions/manifest.ts';
import { authorOf } from '../versions/versions.ts';
import { presentDeployment } from './present.ts';
import { numberedSlug, slugFromName } from './slug.ts';
import { insertDeployment, takenSlugs, type VersionContent } from './store.ts';
import type { DeploymentRow } from './tables.ts';

/**
 * Holds a manifest against the org: that its servers, skills, notebooks, files and secrets exist, that its model is
 * listed, and so on. Gives back the manifest as a version keeps it; a fault's `param` begins with the prefix.
 */
export type CheckManifest = (
  tx: Transaction,
  caller: Caller,
  manifest: GivenManifest,
  paramPrefix: string,
) => Promise<Manifest>;

/** What a version of these settings fixes, as it stands now; nobody changes it until the transaction ends. */
export type FixContent = (tx: Transaction, orgId: string, manifest: Manifest) => Promise<FixedContent>;

type NewDeployment = {
  name: string;
  slug?: string | undefined;
  description: string;
  manifest: GivenManifest;
  note?: string | undefined;
};

type Place = { orgId: string; name: string; description: string };

export async function createDeployment(
  tx: Transaction,
  {
    caller,
    origin,
    checkManifest,
    fixContent,
  }: { caller: Caller; origin: Origin; checkManifest: CheckManifest; fixContent: FixContent },
  { name, slug, description, manifest: given, note }: NewDeployment,
) {
  const manifest = await checkManifest(tx, caller, given, 'manifest');
  const content: VersionContent = {
    manifest,
    fileObjects: noFileObjects,
    content: await fixContent(tx, caller.orgId, manifest),
    changed: changedKeys(null, manifest),
    note: note ?? null,
    createdBy: authorOf(caller.actor),
  };
  const place = { orgId: caller.orgId, name, description };
  const deployment =
    slug === undefined ? await insertUnderMadeSlug(tx, place, content) : await insertUnder(tx, place, slug, content);
  if (!deployment) throw fail('slug_taken', { param: 'slug' });
  await recordAudit(tx, origin, {
    action: 'deployment.created',
    target: { type: 'deployment', id: deployment.id },
    details: { slug: deployment.slug },
  });
  return presentDeployment(deployment);
}

/** Another create may take the free slug first; each round that fails has seen it committed, so the rounds end. */
async function insertUnderMadeSlug(tx: Transaction, place: Place, content: VersionContent): Promise<DeploymentRow> {
  const wanted = slugFromName(place.name);
  for (;;) {
    const slug = await firstFreeSlug(tx, place.orgId, wanted);
    const deployment = await insertUnder(tx, place, slug, content);
    if (deployment) return deployment;
  }
}

async function insertUnder(
  tx: Transaction,
  place: Place,
  slug: string,
  content: VersionContent,
): Promise<DeploymentRow | undefined> {
  return (await insertDeployment(tx, { ...place, slug }, content))?.deployment;
}

async function firstFreeSlug(tx: Transaction, orgId: string, wanted: string): Promise<string> {
  for (let first = 1, size = 8; ; first += size, size = Math.min(size * 4, 1000)) {
    const candidates = Array.from({ length: size }, (_, at) => numberedSlug(wanted, first + at));
    const taken = await takenSlugs(tx, orgId, candidates);
    const free = candidates.find((candidate) => !taken.has(candidate));
    if (free !== undefined) return free;
  }
}
