import { decisionOf, ownNameOf } from '@vestra/agent/tool';
import { documentTitles, readableNotebooks } from '../../agents/notebooks/index.ts';
import { readableSkills } from '../../agents/skills/index.ts';
import type { FixedContent, Manifest } from '../../agents/versions/index.ts';
import type { Engine } from '../../engine/index.ts';
import type { Tenant } from '../../platform/caller.ts';

/**
 * The settings of a version as whoever drafts tests for it needs them, with its knowledge and skills as it fixes them or,
 * with `fixed: null`, as they are now. A server that is away is left out.
 */
export async function describeVersion(
  { db, serverTools }: Pick<Engine, 'db' | 'serverTools'>,
  tenant: Tenant,
  { instructions, language, tools, mcp_servers, mcp_tool_policy, approvals, notebooks, skills }: Manifest,
  fixed: FixedContent | null,
  signal: AbortSignal,
) {
  const loaded =
    mcp_servers.length === 0
      ? []
      : (
          await serverTools.load(
            tenant,
            { userId: null, servers: mcp_servers, mayHaveMoved: fixed === null, policies: mcp_tool_policy },
            signal,
          )
        ).tools;
  return {
    instructions,
    language,
    functions: tools.map(({ function: name, description, input, read_only, run_without_asking }) => ({
      tool: name,
      description,
      input,
      asks_for_a_yes: !read_only && !run_without_asking,
    })),
    server_tools: loaded
      .filter(({ tool }) => decisionOf(tool) !== 'refuse')
      .map(({ tool }) => ({
        tool: `${tool.server}.${ownNameOf(tool)}`,
        description: tool.definition.description,
        input: tool.definition.inputSchema,
        asks_for_a_yes: decisionOf(tool) === 'wait',
      })),
    approvals,
    notebooks: await describeNotebooks(db, tenant, notebooks, fixed),
    skills: (await readableSkills(db, tenant.orgId, skills, fixed?.skills ?? null)).map(({ name, description }) => ({
      name,
      description,
    })),
  };
}

const mostTitles = 200;

/** Those that a test can read: it runs for nobody in particular. */
async function describeNotebooks(
  db: Engine['db'],
  { orgId }: Tenant,
  notebookIds: Manifest['notebooks'],
  fixed: FixedContent | null,
) {
  if (notebookIds.length === 0) return [];
  const reader = { orgId, notebookIds, revisions: fixed?.notebooks ?? null, userId: null };
  const titles = await documentTitles(db, reader, mostTitles);
  return (await readableNotebooks(db, reader)).map(({ id, name, description }) => ({
    name,
    description,
    documents: titles.filter(({ notebook_id }) => notebook_id === id).map(({ title }) => title),
  }));
}
