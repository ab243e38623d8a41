import { createHash } from 'node:crypto';
import { type ApprovalCategory, approvalCategory } from '@vestra/agent/approval-category';
import { isReadOnly, needsYes, ownNameOf, type Tool } from '@vestra/agent/tool';
import type { Database } from '../../platform/db/pool.ts';
import { rowsOf, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { text } from '../../platform/db/table.ts';

type Version = { deploymentId: string; version: number };
type Kept = { tool: string; description_hash: string; category: ApprovalCategory | null };

const mostVersions = 500;
const known = new Map<string, Map<string, ApprovalCategory | null>>();

/**
 * The tools of a version as it first had them: one that waited for a yes because it may change something goes on waiting
 * although its server says since that it only reads, and each that waits has the category that is kept for it; one that
 * has none yet is judged now.
 */
export async function asFirstSeen(db: Database, of: Version, offered: readonly Tool[]): Promise<Tool[]> {
  const tools = await withPinned(db, of, offered);
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

const pinsKnownMs = 60_000;
const pins = new Map<string, { names: Set<string>; until: number }>();

/** What a server says of its tools is its word alone: it may not talk a tool out of its yes while a version runs. */
async function withPinned(db: Database, of: Version, tools: readonly Tool[]): Promise<Tool[]> {
  const saysItReads = ({ origin }: Tool) => origin.from === 'server' && origin.isReadOnly;
  if (!tools.some(saysItReads)) return [...tools];
  const names = await pinnedOf(db, of);
  return tools.map((tool) =>
    tool.origin.from === 'server' && names.has(tool.definition.name)
      ? { ...tool, origin: { ...tool.origin, isReadOnly: false } }
      : tool,
  );
}

/** Kept as long as a server's list of tools is: no reply asks for it that does not also ask for a list. */
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
  if (pins.size >= mostVersions) pins.clear();
  const names = new Set(rows.map(({ tool }) => tool));
  pins.set(name, { names, until: Date.now() + pinsKnownMs });
  return names;
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
  pins.delete(`${deploymentId}@${version}`);
  const judged = tools.map((tool) => ({
    tool: tool.definition.name,
    description_hash: hashOf(tool),
    category: approvalCategory(ownNameOf(tool), tool.definition.description),
    was_read_only: isReadOnly(tool),
  }));
  await run(
    db,
    sql`INSERT INTO tool_categories (deployment_id, version, tool, description_hash, category, was_read_only)
    SELECT v.deployment_id, v.version, j.tool, decode(j.description_hash, 'hex'), j.category, j.was_read_only
    FROM deployment_versions v, json_to_recordset(${sql.json(judged)})
      AS j(tool text, description_hash text, category text, was_read_only boolean)
    WHERE v.deployment_id = ${deploymentId} AND v.version = ${version}
    ON CONFLICT DO NOTHING`,
  );
  return rowsOf(
    db,
    { tool: text(), description_hash: text(), category: text<ApprovalCategory>().nullable() },
    sql`SELECT tool, encode(description_hash, 'hex') AS description_hash, category FROM tool_categories
    WHERE deployment_id = ${deploymentId} AND version = ${version}
      AND tool = ANY(${judged.map(({ tool }) => tool)})`,
  );
}

const hashOf = ({ definition }: Tool) => createHash('sha256').update(definition.description, 'utf8').digest('hex');
const keyOf = (tool: Tool) => `${tool.definition.name}\n${hashOf(tool)}`;
const keyOfRow = ({ tool, description_hash }: Kept) => `${tool}\n${description_hash}`;
