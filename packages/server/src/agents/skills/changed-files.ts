import type { Executor } from '../../platform/db/pool.ts';
import { rowsOf } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { integer, text } from '../../platform/db/table.ts';
import { skillFiles, skills, skillTexts } from './tables.ts';

/** Of each skill the hash of its files that a version fixes. */
type Hashes = Readonly<Record<string, string>>;

type ChangedFile = {
  skill_id: string;
  skill: string;
  path: string;
  before_sha256: string | null;
  after_sha256: string | null;
  bytes: number;
};

/** The files of skills in which two versions differ. */
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

/** By hash. */
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
