import { fail } from '@vestra/contract/errors';
import { recordAudit } from '../../account/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { lockVersions } from '../deployments/store.ts';
import type { ChangeLive } from '../versions/change-live.ts';
import type { Bundle } from './bundle.ts';
import { insertVersion, lockSkill, updateSkill } from './store.ts';
import type { SkillRow } from './tables.ts';

/** Puts other files in the place of a skill's; with a live key live users have them at once, unless told otherwise. */
export async function replaceSkill(
  tx: Transaction,
  origin: Origin,
  { skillId, bundle }: { skillId: string; bundle: Bundle },
  { promote, changeLive }: { promote: 'now' | 'no'; changeLive: ChangeLive },
): Promise<SkillRow> {
  const isForLive = origin.mode === 'live' && promote === 'now';
  if (isForLive) await lockVersions(tx, origin.orgId);
  const row = await putFiles(tx, origin, skillId, bundle);
  // Also where the newest files are these already: a test key may have put them there.
  if (isForLive) {
    await changeLive(tx, origin, skillId, ({ manifest, content }, { status }) => {
      if (content.skills[skillId] === row.hash || status === 'archived') return null;
      const skills = { ...content.skills, [skillId]: row.hash };
      return { manifest, content: { ...content, skills }, changed: 'skills', note: null };
    });
  }
  return row;
}

/** Files that are there already change nothing, not even the time. */
async function putFiles(tx: Transaction, origin: Origin, skillId: string, bundle: Bundle): Promise<SkillRow> {
  const current = await lockSkill(tx, origin.orgId, skillId);
  if (!current) throw fail('skill_not_found');
  if (current.hash === bundle.hash) return current;
  const { name, description } = bundle.frontmatter;
  // A slug of its own stays; otherwise it is the name.
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
