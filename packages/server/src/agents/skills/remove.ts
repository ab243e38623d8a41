import { fail } from '@vestra/contract/errors';
import { recordAudit } from '../../account/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { lockVersions, markMissing } from '../deployments/store.ts';
import { assertNotLive, type ChangeLive } from '../versions/change-live.ts';
import { deleteSkill, lockSkill } from './store.ts';

/**
 * Every version of it goes, so no agent finds it any more, whichever deployment names it. Live traffic goes on without
 * it, and older versions of deployments say so.
 */
export async function removeSkill(
  tx: Transaction,
  origin: Origin,
  skillId: string,
  changeLive: ChangeLive,
): Promise<void> {
  const { orgId } = origin;
  await lockVersions(tx, orgId);
  const row = await lockSkill(tx, orgId, skillId);
  if (!row) throw fail('skill_not_found');
  await assertNotLive(tx, origin, skillId, 'skill_live');
  await deleteSkill(tx, row);
  await changeLive(tx, origin, skillId, ({ manifest, content }) => {
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
}
