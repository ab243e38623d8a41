import type { Api } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import type { BodyOf, ResponseOf } from '@vestra/contract/route';
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
import { fixedContents, type VersionContent } from '../versions/store.ts';
import type { VersionRow } from '../versions/tables.ts';
import { assertMayChangeLive } from '../versions/version-pointers.ts';
import { authorOf } from '../versions/versions.ts';
import { lockDeployment, requireDeployment } from './deployment-reference.ts';
import { deleteDeployment, insertDeployment, lockById, takenSlugs, updateDeployment } from './store.ts';
import type { DeploymentRow } from './tables.ts';

/**
 * Checks a manifest against the org: its servers, skills, notebooks, files and secrets exist, its model is listed, and
 * so on. Returns the manifest to store. The `param` of an error begins with `paramPrefix`.
 */
export type CheckManifest = (
  tx: Transaction,
  caller: Caller,
  manifest: GivenManifest,
  paramPrefix: string,
) => Promise<Manifest>;

/** Returns the current content that a version with these settings fixes, and locks it until the transaction ends. */
export type FixContent = (tx: Transaction, orgId: string, manifest: Manifest) => Promise<FixedContent>;

/** Marks the content of a file for removal, unless another file or version needs it. */
export type ReleaseContent = (tx: Transaction, orgId: string, sha256: string) => Promise<void>;

type NewDeployment = {
  name: string;
  slug?: string | undefined;
  description: string;
  manifest: GivenManifest;
  note?: string | undefined;
};

type DeploymentFields = { orgId: string; name: string; description: string };

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
  const fields = { orgId: caller.orgId, name, description };
  const deployment =
    slug === undefined
      ? await insertWithFreeSlug(tx, fields, content)
      : await insertWithSlug(tx, fields, slug, content);
  if (!deployment) throw fail('slug_taken', { param: 'slug' });
  await recordAudit(tx, origin, {
    action: 'deployment.created',
    target: { type: 'deployment', id: deployment.id },
    details: { slug: deployment.slug },
  });
  return presentDeployment(deployment);
}

/**
 * A concurrent request may take the free slug first. The loop ends because each failed round sees one more slug
 * committed.
 */
async function insertWithFreeSlug(
  tx: Transaction,
  fields: DeploymentFields,
  content: VersionContent,
): Promise<DeploymentRow> {
  const wanted = slugFromName(fields.name);
  for (;;) {
    const slug = await firstFreeSlug(tx, fields.orgId, wanted);
    const deployment = await insertWithSlug(tx, fields, slug, content);
    if (deployment) return deployment;
  }
}

async function insertWithSlug(
  tx: Transaction,
  fields: DeploymentFields,
  slug: string,
  content: VersionContent,
): Promise<DeploymentRow | undefined> {
  return (await insertDeployment(tx, { ...fields, slug }, content))?.deployment;
}

async function firstFreeSlug(tx: Transaction, orgId: string, wanted: string): Promise<string> {
  for (let first = 1, size = 8; ; first += size, size = Math.min(size * 4, 1000)) {
    const candidates = Array.from({ length: size }, (_, at) => numberedSlug(wanted, first + at));
    const taken = await takenSlugs(tx, orgId, candidates);
    const free = candidates.find((candidate) => !taken.has(candidate));
    if (free !== undefined) return free;
  }
}

/** Omitted fields keep their values. A request that changes nothing writes no audit entry. */
export async function changeDeployment(
  tx: Transaction,
  origin: Origin,
  reference: string,
  { name, description }: BodyOf<Api['deployments']['update']>,
) {
  const before = await lockDeployment(tx, origin.orgId, reference);
  const changes = {
    ...(name !== undefined && name !== before.name && { name }),
    ...(description !== undefined && description !== before.description && { description }),
  };
  const changed = Object.keys(changes);
  if (changed.length === 0) return presentDeployment(before);
  assertMayChangeLive(before, origin.mode, 'change its name and description');
  const after = await updateDeployment(tx, before.id, changes);
  await recordAudit(tx, origin, {
    action: 'deployment.updated',
    target: { type: 'deployment', id: after.id },
    details: { slug: after.slug, changed },
  });
  return presentDeployment(after);
}

/** Archives or unarchives a deployment. Its version pointers stay. If it already has the status, nothing changes. */
export async function changeStatus(
  tx: Transaction,
  origin: Origin,
  { reference, status }: { reference: string; status: DeploymentRow['status'] },
) {
  const before = await lockDeployment(tx, origin.orgId, reference);
  if (before.status === status) return presentDeployment(before);
  assertMayChangeLive(before, origin.mode, 'archive it, or bring it back,');
  const after = await updateDeployment(tx, before.id, { status });
  await recordAudit(tx, origin, {
    action: status === 'archived' ? 'deployment.archived' : 'deployment.unarchived',
    target: { type: 'deployment', id: after.id },
    details: { slug: after.slug },
  });
  return presentDeployment(after);
}

/**
 * Deletes a deployment and its versions. One that is or was live is archived first and needs a live key. If it was the
 * org's default, the org has no default afterwards.
 */
export async function removeDeployment(
  tx: Transaction,
  origin: Origin,
  reference: string,
  releaseContent: ReleaseContent,
): Promise<string> {
  const { id } = await requireDeployment(tx, origin.orgId, reference);
  const deployment = await lockById(tx, id, 'update');
  if (!deployment) throw fail('deployment_not_found');
  if (deployment.live_version !== null && deployment.status !== 'archived') {
    throw fail('deployment_live', {
      message: `Version ${deployment.live_version} of this deployment is live. Archive it with a live key first.`,
    });
  }
  assertMayChangeLive(deployment, origin.mode, 'delete it');
  for (const { sha256 } of await fixedContents(tx, id)) await releaseContent(tx, origin.orgId, sha256);
  await deleteDeployment(tx, id);
  await recordAudit(tx, origin, {
    action: 'deployment.deleted',
    target: { type: 'deployment', id },
    details: { slug: deployment.slug, versions: deployment.last_version },
  });
  return id;
}

type ShownVersion = ResponseOf<Api['deployments']['getVersion']>;

/** The latest test run of a version. */
export type VersionTests = NonNullable<ShownVersion['tests']>;

export const presentDeployment = (row: DeploymentRow) => ({
  object: 'deployment' as const,
  id: row.id,
  name: row.name,
  slug: row.slug,
  description: row.description,
  base: 'agent' as const,
  status: row.status,
  draft_version: row.draft_version,
  live_version: row.live_version,
  newest_version: row.newest_version,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

export const presentVersion = (
  row: VersionRow,
  { deployment, tests }: { deployment: DeploymentRow; tests: VersionTests | null },
): ShownVersion => ({
  object: 'deployment_version',
  deployment_id: row.deployment_id,
  version: row.version,
  note: row.note,
  manifest: row.manifest,
  changed: row.changed,
  missing: row.missing,
  tests,
  is_draft: row.version === deployment.draft_version,
  is_live: row.version === deployment.live_version,
  created_by: { type: row.created_by_type, id: row.created_by_id, name: row.created_by_name },
  created_at: row.created_at.toISOString(),
});

const maxLength = 63;

/** Latin letters that Unicode normalization does not split into a plain letter and a mark. */
const foldedLetters: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ł: 'l',
  ħ: 'h',
  ı: 'i',
  ŋ: 'n',
};

/** `Café  Zürich!` becomes `cafe-zurich`; a name without a Latin letter or a digit becomes `deployment`. */
export function slugFromName(name: string): string {
  const folded = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[ßæœøđðþłħıŋ]/g, (letter) => foldedLetters[letter] as string);
  const slug = trimDashes(folded.replace(/[^a-z0-9]+/g, '-'));
  return trimDashes(slug.slice(0, maxLength)) || 'deployment';
}

/** Numbers repeated slugs (`desk`, `desk-2`, `desk-3`) within the length limit. */
export function numberedSlug(slug: string, number: number): string {
  if (number === 1) return slug;
  const suffix = `-${number}`;
  return trimDashes(slug.slice(0, maxLength - suffix.length)) + suffix;
}

const trimDashes = (text: string) => text.replace(/^-+|-+$/g, '');
