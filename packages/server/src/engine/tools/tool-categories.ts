import { createHash } from 'node:crypto';
import { type ApprovalCategory, approvalCategory } from '@vestra/agent/approval-category';
import { isReadOnly, needsApproval, ownNameOf, type Tool } from '@vestra/agent/tool';
import type { Database } from '../../platform/db/pool.ts';
import { rowsOf, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { text } from '../../platform/db/table.ts';
import { transaction } from '../../platform/db/transaction.ts';

type Version = { deploymentId: string; version: number };
type CategoryRow = { tool: string; description_hash: string; category: ApprovalCategory | null };

const maxVersions = 500;
const categoryCache = new Map<string, Map<string, ApprovalCategory | null>>();

/**
 * The tools with the approval rules that the version first had. A tool that needed approval because it may change data
 * still needs it if its server later marks it as read-only. Each tool that needs approval gets its stored category. A
 * tool without one is classified now.
 */
export async function withFirstApprovals(db: Database, of: Version, offered: readonly Tool[]): Promise<Tool[]> {
  const tools = await pinApprovals(db, of, offered);
  const needingApproval = tools.filter((tool) => tool.origin.from !== 'agent' && needsApproval(tool));
  if (needingApproval.length === 0) return [...tools];
  const cached = cachedCategoriesOf(of);
  const missing = needingApproval.filter((tool) => !cached.has(keyOf(tool)));
  if (missing.length > 0)
    for (const row of await storeCategories(db, of, missing)) cached.set(keyOfRow(row), row.category);
  return tools.map((tool) => {
    const category = cached.get(keyOf(tool));
    return category === undefined ? tool : { ...tool, category };
  });
}

const pinsCachedMs = 60_000;
const pins = new Map<string, { names: Set<string>; until: number }>();

/** A server may not remove the need for approval from a tool while a version runs. */
async function pinApprovals(db: Database, of: Version, tools: readonly Tool[]): Promise<Tool[]> {
  const saysItReads = ({ origin }: Tool) => origin.from === 'server' && origin.isReadOnly;
  if (!tools.some(saysItReads)) return [...tools];
  const names = await pinnedOf(db, of);
  return tools.map((tool) =>
    tool.origin.from === 'server' && names.has(tool.definition.name)
      ? { ...tool, origin: { ...tool.origin, isReadOnly: false } }
      : tool,
  );
}

/** Cached as long as a server's list of tools, because each reply that needs one needs the other. */
async function pinnedOf(db: Database, { deploymentId, version }: Version): Promise<ReadonlySet<string>> {
  const name = `${deploymentId}@${version}`;
  const found = pins.get(name);
  if (found && found.until > Date.now()) return found.names;
  const rows = await rowsOf(
    db,
    { tool: text() },
    sql`SELECT DISTINCT tool FROM tool_categories
      WHERE deployment_id = ${deploymentId} AND version = ${version} AND NOT was_read_only`,
  );
  if (pins.size >= maxVersions) pins.clear();
  const names = new Set(rows.map(({ tool }) => tool));
  pins.set(name, { names, until: Date.now() + pinsCachedMs });
  return names;
}

/** A stored row never changes, so each process reads it once. */
function cachedCategoriesOf({ deploymentId, version }: Version): Map<string, ApprovalCategory | null> {
  const name = `${deploymentId}@${version}`;
  const found = categoryCache.get(name) ?? new Map<string, ApprovalCategory | null>();
  if (!categoryCache.has(name) && categoryCache.size >= maxVersions) categoryCache.clear();
  categoryCache.set(name, found);
  return found;
}

/** If another process stored a category a moment earlier, that category counts. */
async function storeCategories(
  db: Database,
  { deploymentId, version }: Version,
  tools: readonly Tool[],
): Promise<CategoryRow[]> {
  pins.delete(`${deploymentId}@${version}`);
  const classified = tools.map((tool) => ({
    tool: tool.definition.name,
    description_hash: hashOf(tool),
    category: approvalCategory(ownNameOf(tool), tool.definition.description),
    was_read_only: isReadOnly(tool),
  }));
  const insertion = sql`INSERT INTO tool_categories (deployment_id, version, tool, description_hash, category, was_read_only)
    SELECT v.deployment_id, v.version, j.tool, decode(j.description_hash, 'hex'), j.category, j.was_read_only
    FROM deployment_versions v, json_to_recordset(${sql.json(classified)})
      AS j(tool text, description_hash text, category text, was_read_only boolean)
    WHERE v.deployment_id = ${deploymentId} AND v.version = ${version}
    ON CONFLICT DO NOTHING`;
  // The deployment may be deleted while its last replies run: the repeated insertion finds no version.
  await transaction(db, (tx) => run(tx, insertion));
  return rowsOf(
    db,
    { tool: text(), description_hash: text(), category: text<ApprovalCategory>().nullable() },
    sql`SELECT tool, encode(description_hash, 'hex') AS description_hash, category FROM tool_categories
    WHERE deployment_id = ${deploymentId} AND version = ${version}
      AND tool = ANY(${classified.map(({ tool }) => tool)})`,
  );
}

const hashOf = ({ definition }: Tool) => createHash('sha256').update(definition.description, 'utf8').digest('hex');
const keyOf = (tool: Tool) => `${tool.definition.name}\n${hashOf(tool)}`;
const keyOfRow = ({ tool, description_hash }: CategoryRow) => `${tool}\n${description_hash}`;
