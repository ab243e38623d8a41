import { fail } from '@vestra/contract/errors';
import type { Origin } from '../../caller.ts';
import type { Transaction } from '../../db/pool.ts';
import { recordAudit } from '../audit/api.ts';
import { deleteSkill, lockSkill } from './store.ts';

/** Every version goes, so no agent finds it any more, whichever deployment names it. */
export async function removeSkill(tx: Transaction, origin: Origin, skillId: string): Promise<void> {
  const row = await lockSkill(tx, origin.orgId, skillId);
  if (!row) throw fail('skill_not_found');
  await deleteSkill(tx, row);
  await recordAudit(tx, origin, {
    action: 'skill.deleted',
    target: { type: 'skill', id: skillId },
    details: { slug: row.slug },
  });
}
