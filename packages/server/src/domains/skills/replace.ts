import { fail } from '@vestra/contract/errors';
import type { Origin } from '../../caller.ts';
import type { Transaction } from '../../db/pool.ts';
import { recordAudit } from '../audit/api.ts';
import type { Bundle } from './bundle.ts';
import { insertVersion, lockSkill, updateSkill } from './store.ts';
import type { SkillRow } from './tables.ts';

/** Files that are there already change nothing, not even the time. */
export async function replaceSkill(
  tx: Transaction,
  origin: Origin,
  skillId: string,
  bundle: Bundle,
): Promise<SkillRow> {
  const current = await lockSkill(tx, origin.orgId, skillId);
  if (!current) throw fail('skill_not_found');
  if (current.hash === bundle.hash) return current;
  const { name, description } = bundle.frontmatter;
  const row = await updateSkill(tx, skillId, {
    slug: name,
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
    details: { slug: name, version: row.hash, previous_version: current.hash },
  });
  return row;
}
