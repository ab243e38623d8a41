import { and, desc, eq, inArray, lt, sql } from 'drizzle-orm';
import type { Executor, Transaction } from '../../db/pool.ts';
import { sqlState } from '../../db/query-error.ts';
import type { Bundle, SkillFile } from './bundle.ts';
import { type SkillRow, type SkillVersionRow, skillFiles, skills, skillTexts, skillVersions } from './tables.ts';

/** Skills are shared by both modes of their org. */
const owned = (orgId: string, skillId: string) => and(eq(skills.org_id, orgId), eq(skills.id, skillId));

/** Nothing, where another skill of the org has the slug; a second insert of one slug waits for the first to end. */
export async function insertSkill(
  tx: Transaction,
  row: Pick<SkillRow, 'id' | 'org_id' | 'slug' | 'name' | 'description' | 'hash'>,
): Promise<SkillRow | undefined> {
  const [inserted] = await tx
    .insert(skills)
    .values(row)
    .onConflictDoNothing({ target: [skills.org_id, skills.slug] })
    .returning();
  return inserted;
}

export async function findSkill(db: Executor, orgId: string, skillId: string): Promise<SkillRow | undefined> {
  const [row] = await db.select().from(skills).where(owned(orgId, skillId));
  return row;
}

/** Locked until the end of the transaction: versions are put on top of each other one at a time. */
export async function lockSkill(tx: Transaction, orgId: string, skillId: string): Promise<SkillRow | undefined> {
  const [row] = await tx.select().from(skills).where(owned(orgId, skillId)).for('update');
  return row;
}

export function listSkills(
  db: Executor,
  orgId: string,
  page: { limit: number; below: string | null },
): Promise<SkillRow[]> {
  return db
    .select()
    .from(skills)
    .where(and(eq(skills.org_id, orgId), page.below === null ? undefined : lt(skills.id, page.below)))
    .orderBy(desc(skills.id))
    .limit(page.limit + 1);
}

/** Those of the ids that are skills of the org, as they are now; held ones stay so until the transaction ends. */
export async function findSkills(
  db: Executor,
  orgId: string,
  ids: readonly string[],
  { hold }: { hold: boolean },
): Promise<ReadonlyMap<string, CurrentSkill>> {
  if (ids.length === 0) return new Map();
  const found = db
    .select({ id: skills.id, name: skills.name, description: skills.description, hash: skills.hash })
    .from(skills)
    .where(and(eq(skills.org_id, orgId), inArray(skills.id, [...ids])))
    .orderBy(skills.id);
  return new Map((await (hold ? found.for('share') : found)).map((row) => [row.id, row]));
}

export type CurrentSkill = Pick<SkillRow, 'id' | 'name' | 'description' | 'hash'>;

/** Skills as they were at these hashes; nothing of one that is gone. */
export async function findSkillsAt(
  db: Executor,
  orgId: string,
  hashes: Readonly<Record<string, string>>,
): Promise<ReadonlyMap<string, CurrentSkill>> {
  const ids = Object.keys(hashes);
  if (ids.length === 0) return new Map();
  const { rows } = await db.execute<CurrentSkill>(sql`
    SELECT DISTINCT ON (skills.id) skills.id, version.name, version.description, version.hash
    FROM unnest(${sql.param(ids)}::text[], ${sql.param(Object.values(hashes))}::text[]) AS fixed (id, hash)
    JOIN skills ON skills.id = fixed.id AND skills.org_id = ${orgId}
    JOIN skill_versions AS version ON version.skill_id = fixed.id AND version.hash = fixed.hash
    ORDER BY skills.id, version.number DESC`);
  return new Map(rows.map((row) => [row.id, row]));
}

/** Nothing, where another skill of the org has the slug; the transaction can then only be rolled back. */
export async function updateSkill(
  tx: Transaction,
  skillId: string,
  changes: Pick<SkillRow, 'slug' | 'name' | 'description' | 'hash' | 'version_number'>,
): Promise<SkillRow | undefined> {
  try {
    const [row] = await tx
      .update(skills)
      .set({ ...changes, updated_at: sql`now()` })
      .where(eq(skills.id, skillId))
      .returning();
    return row;
  } catch (error) {
    if (sqlState(error) === uniqueViolation) return undefined;
    throw error;
  }
}

const uniqueViolation = '23505';

/** The version that the skill's row announces, and its files. */
export async function insertVersion(
  tx: Transaction,
  skill: SkillRow,
  parentHash: string | null,
  { hash, files }: Bundle,
): Promise<void> {
  await tx.insert(skillVersions).values({
    skill_id: skill.id,
    number: skill.version_number,
    hash,
    parent_hash: parentHash,
    name: skill.name,
    description: skill.description,
  });
  await keepTexts(tx, skill.org_id, files);
  await tx.execute(sql`
    INSERT INTO skill_files (skill_id, hash, path, org_id, sha256)
    SELECT ${skill.id}, ${hash}, path, ${skill.org_id}, sha256
    FROM unnest(${sql.param(files.map(({ path }) => path))}::text[],
      ${sql.param(files.map(({ sha256 }) => sha256))}::text[]) AS given (path, sha256)
    ON CONFLICT DO NOTHING`);
}

/**
 * A text that is there already is written over with itself, which locks it: whoever is about to remove it as unused
 * waits, and then sees that it is used again. In the order of hashes, so that no two uploads wait for each other.
 */
async function keepTexts(tx: Transaction, orgId: string, files: readonly SkillFile[]): Promise<void> {
  const texts = [...new Map(files.map((file) => [file.sha256, file])).values()].sort((a, b) =>
    a.sha256 < b.sha256 ? -1 : 1,
  );
  await tx.execute(sql`
    INSERT INTO skill_texts (org_id, sha256, bytes, content)
    SELECT ${orgId}, sha256, bytes, content
    FROM unnest(${sql.param(texts.map(({ sha256 }) => sha256))}::text[],
      ${sql.param(texts.map(({ bytes }) => bytes))}::integer[],
      ${sql.param(texts.map(({ content }) => content))}::text[]) AS given (sha256, bytes, content)
    ON CONFLICT (org_id, sha256) DO UPDATE SET bytes = EXCLUDED.bytes`);
}

/** By bytes, as the digest sorts them. */
export function listFiles(
  db: Executor,
  { id, hash }: Pick<SkillRow, 'id' | 'hash'>,
): Promise<{ path: string; bytes: number; content: string }[]> {
  return db
    .select({ path: skillFiles.path, bytes: skillTexts.bytes, content: skillTexts.content })
    .from(skillFiles)
    .innerJoin(skillTexts, and(eq(skillTexts.org_id, skillFiles.org_id), eq(skillTexts.sha256, skillFiles.sha256)))
    .where(and(eq(skillFiles.skill_id, id), eq(skillFiles.hash, hash)))
    .orderBy(sql`${skillFiles.path} COLLATE "C"`);
}

export function listVersions(
  db: Executor,
  skillId: string,
  page: { limit: number; below: number | null },
): Promise<SkillVersionRow[]> {
  return db
    .select()
    .from(skillVersions)
    .where(
      and(eq(skillVersions.skill_id, skillId), page.below === null ? undefined : lt(skillVersions.number, page.below)),
    )
    .orderBy(desc(skillVersions.number))
    .limit(page.limit + 1);
}

/** The skill with its versions and files, and the texts that nothing else uses. */
export async function deleteSkill(tx: Transaction, { org_id: orgId, id }: SkillRow): Promise<void> {
  const used = await tx
    .selectDistinct({ sha256: skillFiles.sha256 })
    .from(skillFiles)
    .where(eq(skillFiles.skill_id, id));
  await tx.delete(skills).where(eq(skills.id, id));
  // As one array: a skill of many versions has more texts than a statement may have parameters.
  const hashes = sql`${sql.param(used.map(({ sha256 }) => sha256))}::text[]`;
  await tx.execute(sql`
    SELECT FROM skill_texts WHERE org_id = ${orgId} AND sha256 = ANY(${hashes}) ORDER BY sha256 FOR UPDATE`);
  // A statement of its own, after the locks: it sees the files of every upload that the locks have waited for.
  await tx.execute(sql`
    DELETE FROM skill_texts AS unused WHERE org_id = ${orgId} AND sha256 = ANY(${hashes}) AND NOT EXISTS (
      SELECT FROM skill_files WHERE org_id = unused.org_id AND sha256 = unused.sha256)`);
}
