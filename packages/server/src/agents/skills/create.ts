import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { recordAudit } from '../../account/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import type { Bundle } from './bundle.ts';
import { insertSkill, insertVersion } from './store.ts';
import type { SkillRow } from './tables.ts';

export async function createSkill(
  tx: Transaction,
  origin: Origin,
  bundle: Bundle,
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
