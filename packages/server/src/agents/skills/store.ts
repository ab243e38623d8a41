import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { insert, insertMany, maybeOne, rowsOf, run, update } from '../../platform/db/query.ts';
import { sql, sqlState } from '../../platform/db/sql.ts';
import { columnsOf, integer, text } from '../../platform/db/table.ts';
import type { SkillBundle, SkillFile } from './bundle.ts';
import { type SkillRow, type SkillVersionRow, skillFiles, skills, skillTexts, skillVersions } from './tables.ts';

const columns = columnsOf(skills);

/** Skills are shared by both modes of their org. */
const owned = (orgId: string, skillId: string) => sql`org_id = ${orgId} AND id = ${skillId}`;

/**
 * Returns undefined if another skill of the org has the slug. A concurrent insert of the same slug waits for the first
 * one.
 */
export async function insertSkill(
  tx: Transaction,
  row: Pick<SkillRow, 'id' | 'org_id' | 'slug' | 'name' | 'description' | 'hash'>,
): Promise<SkillRow | undefined> {
  const [inserted] = await insertMany(tx, skills, [row], { onConflict: sql`(org_id, slug) DO NOTHING` });
  return inserted;
}

export const findSkill = (db: Executor, orgId: string, skillId: string): Promise<SkillRow | undefined> =>
  maybeOne(db, skills, sql`SELECT ${columns} FROM ${skills} WHERE ${owned(orgId, skillId)}`);

/** Locks the skill until the transaction ends, so that concurrent uploads add versions one after the other. */
export const lockSkill = (tx: Transaction, orgId: string, skillId: string): Promise<SkillRow | undefined> =>
  maybeOne(tx, skills, sql`SELECT ${columns} FROM ${skills} WHERE ${owned(orgId, skillId)} FOR UPDATE`);

export const listSkills = (
  db: Executor,
  orgId: string,
  { limit, below }: { limit: number; below: string | null },
): Promise<SkillRow[]> =>
  rowsOf(
    db,
    skills,
    sql`SELECT ${columns} FROM ${skills} WHERE ${sql.and(sql`org_id = ${orgId}`, below && sql`id < ${below}`)}
        ORDER BY id DESC LIMIT ${limit + 1}`,
  );

/**
 * Returns those of the ids that are skills of the org, as they are now. `hold` locks them until the transaction ends.
 */
export async function findSkills(
  db: Executor,
  orgId: string,
  ids: readonly string[],
  { hold }: { hold: boolean },
): Promise<ReadonlyMap<string, CurrentSkill>> {
  if (ids.length === 0) return new Map();
  const rows = await rowsOf(
    db,
    currentSkill,
    sql`SELECT id, name, description, hash FROM ${skills} WHERE org_id = ${orgId} AND id = ANY(${ids}) ORDER BY id
        ${hold ? sql`FOR SHARE` : sql.empty}`,
  );
  return new Map(rows.map((row) => [row.id, row]));
}

const currentSkill = { id: text(), name: text(), description: text(), hash: text() };
type CurrentSkill = Pick<SkillRow, 'id' | 'name' | 'description' | 'hash'>;

/** Returns the skills as they were at these hashes. Deleted skills are left out. */
export async function findSkillsAt(
  db: Executor,
  orgId: string,
  hashes: Readonly<Record<string, string>>,
): Promise<ReadonlyMap<string, CurrentSkill>> {
  const ids = Object.keys(hashes);
  if (ids.length === 0) return new Map();
  const rows = await rowsOf(
    db,
    currentSkill,
    sql`SELECT DISTINCT ON (s.id) s.id, v.name, v.description, v.hash
        FROM unnest(${ids}::text[], ${Object.values(hashes)}::text[]) AS fixed (id, hash)
        JOIN ${skills} s ON s.id = fixed.id AND s.org_id = ${orgId}
        JOIN ${skillVersions} v ON v.skill_id = fixed.id AND v.hash = fixed.hash
        ORDER BY s.id, v.number DESC`,
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** Returns undefined if another skill of the org has the slug. The transaction must then be rolled back. */
export async function updateSkill(
  tx: Transaction,
  skillId: string,
  changes: Pick<SkillRow, 'slug' | 'name' | 'description' | 'hash' | 'version_number'>,
): Promise<SkillRow | undefined> {
  try {
    const [row] = await update(tx, skills, { ...changes, updated_at: sql`now()` }, sql`id = ${skillId}`);
    return row;
  } catch (error) {
    if (sqlState(error) === uniqueViolation) return undefined;
    throw error;
  }
}

const uniqueViolation = '23505';

/** Inserts the version in the skill's row, and its files. */
export async function insertVersion(
  tx: Transaction,
  skill: SkillRow,
  parentHash: string | null,
  { hash, files }: SkillBundle,
): Promise<void> {
  await insert(tx, skillVersions, {
    skill_id: skill.id,
    number: skill.version_number,
    hash,
    parent_hash: parentHash,
    name: skill.name,
    description: skill.description,
  });
  await upsertTexts(tx, skill.org_id, files);
  const rows = files.map(({ path, sha256 }) => ({ skill_id: skill.id, hash, path, org_id: skill.org_id, sha256 }));
  await insertMany(tx, skillFiles, rows, { onConflict: sql`DO NOTHING` });
}

/**
 * Upserting an existing text locks it: a transaction that is about to delete it as unused waits, and then sees the new
 * use. Sorted by hash, so that two uploads cannot deadlock.
 */
async function upsertTexts(tx: Transaction, orgId: string, files: readonly SkillFile[]): Promise<void> {
  const texts = [...new Map(files.map((file) => [file.sha256, file])).values()].sort((a, b) =>
    a.sha256 < b.sha256 ? -1 : 1,
  );
  // Not `insertMany`, which would return every text.
  await run(
    tx,
    sql`INSERT INTO ${skillTexts} (org_id, sha256, bytes, content)
        SELECT ${orgId}, sha256, bytes, content
        FROM unnest(${texts.map(({ sha256 }) => sha256)}::text[], ${texts.map(({ bytes }) => bytes)}::integer[],
          ${texts.map(({ content }) => content)}::text[]) AS given (sha256, bytes, content)
        ON CONFLICT (org_id, sha256) DO UPDATE SET bytes = EXCLUDED.bytes`,
  );
}

/** Sorted by bytes, like the digest. */
export function listFiles(
  db: Executor,
  { id, hash }: Pick<SkillRow, 'id' | 'hash'>,
): Promise<{ path: string; bytes: number; content: string }[]> {
  const { bytes, content } = skillTexts.columns;
  return rowsOf(
    db,
    { path: text(), bytes, content },
    sql`SELECT f.path, t.bytes, t.content
        FROM ${skillFiles} f JOIN ${skillTexts} t ON t.org_id = f.org_id AND t.sha256 = f.sha256
        WHERE f.skill_id = ${id} AND f.hash = ${hash} ORDER BY f.path COLLATE "C"`,
  );
}

export function listVersions(
  db: Executor,
  skillId: string,
  { limit, below }: { limit: number; below: number | null },
): Promise<SkillVersionRow[]> {
  const further = below !== null && sql`number < ${below}`;
  return rowsOf(
    db,
    skillVersions,
    sql`SELECT ${columnsOf(skillVersions)} FROM ${skillVersions}
        WHERE ${sql.and(sql`skill_id = ${skillId}`, further)} ORDER BY number DESC LIMIT ${limit + 1}`,
  );
}

/** Deletes the skill, its versions and files, and texts that nothing else uses. */
export async function deleteSkill(tx: Transaction, { org_id: orgId, id }: SkillRow): Promise<void> {
  const used = await rowsOf(
    tx,
    { sha256: text() },
    sql`SELECT DISTINCT sha256 FROM ${skillFiles} WHERE skill_id = ${id}`,
  );
  await run(tx, sql`DELETE FROM ${skills} WHERE id = ${id}`);
  const hashes = used.map(({ sha256 }) => sha256);
  await run(
    tx,
    sql`SELECT FROM ${skillTexts} WHERE org_id = ${orgId} AND sha256 = ANY(${hashes}) ORDER BY sha256 FOR UPDATE`,
  );
  // A separate statement after the locks, so that it sees the files of every upload that they waited for.
  await run(
    tx,
    sql`DELETE FROM ${skillTexts} AS unused WHERE org_id = ${orgId} AND sha256 = ANY(${hashes}) AND NOT EXISTS (
          SELECT FROM ${skillFiles} f WHERE f.org_id = unused.org_id AND f.sha256 = unused.sha256)`,
  );
}

/** Hashes of files by skill id, as a version fixes them. */
type Hashes = Readonly<Record<string, string>>;

type ChangedFile = {
  skill_id: string;
  skill: string;
  path: string;
  before_sha256: string | null;
  after_sha256: string | null;
  bytes: number;
};

/** Lists the skill files in which two versions differ. */
export function changedFiles(
  db: Executor,
  orgId: string,
  { before, after, limit }: { before: Hashes; after: Hashes; limit: number },
): Promise<ChangedFile[]> {
  const filesAt = (hashes: Hashes) => sql`
    SELECT f.skill_id, f.path, f.sha256, t.bytes
    FROM unnest(${Object.keys(hashes)}::text[], ${Object.values(hashes)}::text[]) AS fixed (skill_id, hash)
    JOIN ${skillFiles} f ON f.skill_id = fixed.skill_id AND f.hash = fixed.hash AND f.org_id = ${orgId}
    JOIN ${skillTexts} t ON t.org_id = f.org_id AND t.sha256 = f.sha256`;
  return rowsOf(
    db,
    {
      skill_id: text(),
      skill: text(),
      path: text(),
      before_sha256: text().nullable(),
      after_sha256: text().nullable(),
      bytes: integer(),
    },
    sql`
      SELECT s.id AS skill_id, s.name AS skill, path, b.sha256 AS before_sha256, a.sha256 AS after_sha256,
        coalesce(b.bytes, 0) + coalesce(a.bytes, 0) AS bytes
      FROM (${filesAt(before)}) b FULL JOIN (${filesAt(after)}) a USING (skill_id, path)
      JOIN ${skills} s ON s.id = skill_id AND s.org_id = ${orgId}
      WHERE b.sha256 IS DISTINCT FROM a.sha256
      ORDER BY s.name, s.id, path COLLATE "C" LIMIT ${limit}`,
  );
}

/** Returns texts by hash. */
export async function fileTexts(
  db: Executor,
  orgId: string,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (hashes.length === 0) return new Map();
  const { sha256, content } = skillTexts.columns;
  const rows = await rowsOf(
    db,
    { sha256, content },
    sql`SELECT sha256, content FROM ${skillTexts} WHERE org_id = ${orgId} AND sha256 = ANY(${hashes})`,
  );
  return new Map(rows.map((row) => [row.sha256, row.content]));
}
