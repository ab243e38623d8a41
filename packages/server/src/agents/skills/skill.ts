import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { recordAudit } from '../../account/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import type { JobSender } from '../../platform/jobs/catalog.ts';
import { lockVersions, markMissing } from '../versions/store.ts';
import { assertNotLive, type RepublishLive } from '../versions/versions.ts';
import type { SkillBundle } from './bundle.ts';
import type { BuiltInSkill } from './skill-files.ts';
import { deleteSkill, insertSkill, insertVersion, lockSkill, updateSkill } from './store.ts';
import type { SkillRow, SkillVersionRow } from './tables.ts';

export async function createSkill(
  tx: Transaction,
  origin: Origin,
  bundle: SkillBundle,
  ownSlug: string | undefined,
): Promise<SkillRow> {
  const { name, description } = bundle.frontmatter;
  const row = await insertSkill(tx, {
    id: newId('skl'),
    org_id: origin.orgId,
    slug: ownSlug ?? name,
    name,
    description,
    hash: bundle.hash,
  });
  if (!row) {
    if (ownSlug !== undefined) throw fail('slug_taken', { param: 'slug' });
    throw fail('slug_taken', {
      param: bundle.nameParam,
      message: `Another skill is named \`${name}\`: put the files there with PUT, or change \`name\` in SKILL.md.`,
    });
  }
  await insertVersion(tx, row, null, bundle);
  await recordAudit(tx, origin, {
    action: 'skill.created',
    target: { type: 'skill', id: row.id },
    details: { slug: row.slug, version: row.hash },
  });
  return row;
}

/** Replaces the files of a skill. With a live key live users get them at once, unless `promote` is `no`. */
export async function replaceSkill(
  tx: Transaction,
  origin: Origin,
  { skillId, bundle }: { skillId: string; bundle: SkillBundle },
  { promote, republishLive }: { promote: 'now' | 'no'; republishLive: RepublishLive },
): Promise<SkillRow> {
  const isForLive = origin.mode === 'live' && promote === 'now';
  if (isForLive) await lockVersions(tx, origin.orgId);
  const row = await putFiles(tx, origin, skillId, bundle);
  // Also if the newest files are the same: a test key may have uploaded them without publishing.
  if (isForLive) {
    await republishLive(tx, origin, skillId, ({ manifest, content }, { status }) => {
      if (content.skills[skillId] === row.hash || status === 'archived') return null;
      const skills = { ...content.skills, [skillId]: row.hash };
      return { manifest, content: { ...content, skills }, changed: 'skills', note: null };
    });
  }
  return row;
}

/** Identical files change nothing, not even `updated_at`. */
async function putFiles(tx: Transaction, origin: Origin, skillId: string, bundle: SkillBundle): Promise<SkillRow> {
  const current = await lockSkill(tx, origin.orgId, skillId);
  if (!current) throw fail('skill_not_found');
  if (current.hash === bundle.hash) return current;
  const { name, description } = bundle.frontmatter;
  // A custom slug stays. Otherwise the slug follows the name.
  const slug = current.slug === current.name ? name : current.slug;
  const row = await updateSkill(tx, skillId, {
    slug,
    name,
    description,
    hash: bundle.hash,
    version_number: current.version_number + 1,
  });
  if (!row) {
    throw fail('slug_taken', { param: bundle.nameParam, message: `Another skill is named \`${name}\`.` });
  }
  await insertVersion(tx, row, current.hash, bundle);
  await recordAudit(tx, origin, {
    action: 'skill.updated',
    target: { type: 'skill', id: skillId },
    details: { slug, version: row.hash, previous_version: current.hash },
  });
  return row;
}

/**
 * Deletes all versions of the skill. Live versions of deployments get a successor without it, and older ones list it as
 * missing.
 */
export async function removeSkill(
  tx: Transaction,
  origin: Origin,
  skillId: string,
  { republishLive, jobs }: { republishLive: RepublishLive; jobs: JobSender },
): Promise<void> {
  const { orgId } = origin;
  await lockVersions(tx, orgId);
  const row = await lockSkill(tx, orgId, skillId);
  if (!row) throw fail('skill_not_found');
  await assertNotLive(tx, origin, skillId, 'skill_live');
  await deleteSkill(tx, row);
  await republishLive(tx, origin, skillId, ({ manifest, content }) => {
    const { [skillId]: _gone, ...skills } = content.skills;
    const named = manifest.skills.filter((skill) => !('id' in skill) || skill.id !== skillId);
    const note = `The skill \`${row.slug}\` was deleted.`;
    return { manifest: { ...manifest, skills: named }, content: { ...content, skills }, changed: 'skills', note };
  });
  await markMissing(tx, orgId, skillId);
  await recordAudit(tx, origin, {
    action: 'skill.deleted',
    target: { type: 'skill', id: skillId },
    details: { slug: row.slug },
  });
  await jobs.send(tx, 'knowledge.empty', { org_id: orgId, object: 'skill', id: skillId });
}

export const presentSkill = (row: SkillRow) => ({
  object: 'skill' as const,
  id: row.id,
  source: 'company' as const,
  slug: row.slug,
  name: row.name,
  description: row.description,
  version: row.hash,
  sha256: row.hash,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

export const presentBuiltIn = ({ name, description }: BuiltInSkill) => ({
  object: 'skill' as const,
  id: null,
  source: 'built_in' as const,
  slug: name,
  name,
  description,
  version: null,
  sha256: null,
  created_at: null,
  updated_at: null,
});

export const presentVersion = (row: SkillVersionRow) => ({
  object: 'skill_version' as const,
  hash: row.hash,
  parent_hash: row.parent_hash,
  created_at: row.created_at.toISOString(),
});
