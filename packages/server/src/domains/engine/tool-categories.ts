import { createHash } from 'node:crypto';
import { type ApprovalCategory, approvalCategory } from '@vestra/agent/approval-category';
import { needsYes, ownNameOf, type Tool } from '@vestra/agent/tool';
import { sql } from 'drizzle-orm';
import type { Database } from '../../db/pool.ts';

type Version = { deploymentId: string; version: number };
type Kept = { tool: string; description_hash: string; category: ApprovalCategory | null };

const mostVersions = 500;
const known = new Map<string, Map<string, ApprovalCategory | null>>();

/** The tools of a version with the category that is kept for each that waits; one that has none yet is judged now. */
export async function withCategories<T extends Tool>(db: Database, of: Version, tools: readonly T[]): Promise<T[]> {
  const waiting = tools.filter((tool) => tool.origin.from !== 'agent' && needsYes(tool));
  if (waiting.length === 0) return [...tools];
  const kept = keptOf(of);
  const missing = waiting.filter((tool) => !kept.has(keyOf(tool)));
  if (missing.length > 0) for (const row of await keep(db, of, missing)) kept.set(keyOfRow(row), row.category);
  return tools.map((tool) => {
    const category = kept.get(keyOf(tool));
    return category === undefined ? tool : { ...tool, category };
  });
}

/** A row never changes once it is there, so it is read once. */
function keptOf({ deploymentId, version }: Version): Map<string, ApprovalCategory | null> {
  const name = `${deploymentId}@${version}`;
  const found = known.get(name) ?? new Map<string, ApprovalCategory | null>();
  if (!known.has(name) && known.size >= mostVersions) known.clear();
  known.set(name, found);
  return found;
}

/** What another process has judged a moment earlier stands. */
async function keep(db: Database, { deploymentId, version }: Version, tools: readonly Tool[]): Promise<Kept[]> {
  const judged = tools.map((tool) => ({
    tool: tool.definition.name,
    description_hash: hashOf(tool),
    category: approvalCategory(ownNameOf(tool), tool.definition.description),
  }));
  await db.execute(sql`
    INSERT INTO tool_categories (deployment_id, version, tool, description_hash, category)
    SELECT v.deployment_id, v.version, j.tool, decode(j.description_hash, 'hex'), j.category
    FROM deployment_versions v, json_to_recordset(${JSON.stringify(judged)}::json)
      AS j(tool text, description_hash text, category text)
    WHERE v.deployment_id = ${deploymentId} AND v.version = ${version}
    ON CONFLICT DO NOTHING`);
  const { rows } = await db.execute<Kept>(sql`
    SELECT tool, encode(description_hash, 'hex') AS description_hash, category FROM tool_categories
    WHERE deployment_id = ${deploymentId} AND version = ${version}
      AND tool = ANY(${sql.param(judged.map(({ tool }) => tool))}::text[])`);
  return rows;
}

const hashOf = ({ definition }: Tool) => createHash('sha256').update(definition.description, 'utf8').digest('hex');
const keyOf = (tool: Tool) => `${tool.definition.name}\n${hashOf(tool)}`;
const keyOfRow = ({ tool, description_hash }: Kept) => `${tool}\n${description_hash}`;
