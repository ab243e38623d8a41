import { decisionOf } from '@vestra/agent/tool';
import { maxToolsAtOnce, type ServerTools } from '../../agents/tool-servers/index.ts';
import type { FixedContent, Manifest } from '../../agents/versions/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { ApplyDependencies } from '../dependencies.ts';
import type { CheckedFile } from './check-file.ts';
import type { DeploymentFile, FileWarning } from './parts.ts';

/** Warnings about accepted values that may not be intended, and about lines that have no effect. */
export function fileWarnings(
  { file, servers }: CheckedFile,
  dependencies: Pick<ApplyDependencies, 'apps'>,
): FileWarning[] {
  return [
    ...appWarnings(file, dependencies),
    ...servers.flatMap(({ warnings }) => warnings),
    ...file.tools.flatMap((entry, at) => ('mcp' in entry ? ruleWarnings(entry, `tools.${at}`) : [])),
    ...(['skills', 'knowledge', 'apps', 'approvals'] as const).flatMap((key) => repeatWarnings(file[key], key)),
    ...repeatWarnings(file.computer?.repos, 'computer.repos'),
    ...repeatWarnings(file.computer?.files, 'computer.files'),
    ...file.routines.flatMap(({ on, timezone }, at) =>
      on !== undefined && timezone !== undefined
        ? [
            {
              param: `routines.${at}.timezone`,
              message: 'A routine that runs on a call has no schedule: this line has no effect.',
            },
          ]
        : [],
    ),
  ];
}

/** The operator decides which apps exist, so a file may be applied to servers with different apps. */
function appWarnings({ apps }: DeploymentFile, { apps: known }: Pick<ApplyDependencies, 'apps'>): FileWarning[] {
  if (apps === 'all') return [];
  return apps.flatMap((app, at) =>
    known.catalogue.find(app) !== undefined
      ? []
      : [{ param: `apps.${at}`, message: `This server has no app \`${app}\`: GET /v1/apps lists them.` }],
  );
}

type Rules = Pick<
  Extract<DeploymentFile['tools'][number], { mcp: string }>,
  'allow' | 'deny' | 'require_approval' | 'run_without_asking'
>;

/** Rules for a tool that another rule already excludes. */
function ruleWarnings({ allow, deny, require_approval, run_without_asking }: Rules, at: string): FileWarning[] {
  const denied = new Set(deny);
  const isOffered = (tool: string) => !denied.has(tool) && (allow === undefined || allow.includes(tool));
  const lists = { require_approval, run_without_asking: run_without_asking === 'all' ? [] : run_without_asking };
  return [
    ...(allow ?? []).flatMap((tool, index) =>
      denied.has(tool)
        ? [{ param: `${at}.allow.${index}`, message: `\`deny\` names \`${tool}\` too: it is not offered.` }]
        : [],
    ),
    ...Object.entries(lists).flatMap(([list, tools]) =>
      tools.flatMap((tool, index) =>
        isOffered(tool)
          ? []
          : [{ param: `${at}.${list}.${index}`, message: `\`${tool}\` is not offered: this rule has no effect.` }],
      ),
    ),
    ...lists.run_without_asking.flatMap((tool, index) =>
      require_approval.includes(tool) && isOffered(tool)
        ? [
            {
              param: `${at}.run_without_asking.${index}`,
              message: `\`require_approval\` names \`${tool}\` too: it needs approval.`,
            },
          ]
        : [],
    ),
  ];
}

function repeatWarnings(list: unknown, at: string): FileWarning[] {
  if (!Array.isArray(list)) return [];
  const seen = new Set<string>();
  return list.flatMap((entry, index) => {
    const text = JSON.stringify(entry);
    if (seen.has(text)) return [{ param: `${at}.${index}`, message: 'This entry is there twice. It is saved once.' }];
    seen.add(text);
    return [];
  });
}

/** A server that does not answer in this time is not checked, so that a file can be applied while it is down. */
const maxWaitMs = 3_000;

/**
 * Warnings about the tools that the servers of a version offer now. A server that is unavailable has none. A trial
 * writes nothing.
 */
export async function toolWarnings(
  { load }: Pick<ServerTools, 'load'>,
  tenant: Tenant,
  {
    manifest,
    content: { servers: fixed },
  }: {
    manifest: Pick<Manifest, 'mcp_servers' | 'mcp_tool_policy'>;
    content: Pick<FixedContent, 'servers'>;
  },
  { isTrial = false }: { isTrial?: boolean } = {},
): Promise<FileWarning[]> {
  const { mcp_servers: servers, mcp_tool_policy: policies } = manifest;
  if (servers.length === 0) return [];
  const wanted = { userId: null, servers, fixed, policies, isTrial };
  const loaded = await load(tenant, wanted, AbortSignal.timeout(maxWaitMs)).catch(() => null);
  if (!loaded) return [];
  const { tools } = loaded;
  const offered = tools.filter(({ tool }) => decisionOf(tool) !== 'refuse');
  const names = Map.groupBy(tools, ({ tool }) => tool.server ?? '');
  const unknown = Object.entries(policies).flatMap(([slug, policy]) => {
    const known = names.get(slug)?.map(({ name }) => name);
    return known ? unknownNames(slug, policy, known) : [];
  });
  return [
    ...(offered.length > maxToolsAtOnce ? [tooManyTools(offered.map(({ tool }) => tool.server ?? ''))] : []),
    ...unknown,
  ];
}

function tooManyTools(servers: readonly string[]): FileWarning {
  const counts = [...Map.groupBy(servers, (slug) => slug)].map(([slug, all]) => `\`${slug}\` has ${all.length}`);
  const message = `Its servers offer ${servers.length} tools (${counts.join(', ')}), and an agent gets ${maxToolsAtOnce} in all. Each server gets a fair share: name the tools it needs in \`allow\`.`;
  return { param: 'tools', message };
}

/** A name that the server does not have is likely misspelled, and the rule has no effect. */
function unknownNames(
  slug: string,
  policy: Manifest['mcp_tool_policy'][string],
  known: readonly string[],
): FileWarning[] {
  const lists = (['allow', 'deny', 'require_approval', 'run_without_asking'] as const).flatMap((list) => {
    const given = policy[list];
    const missing = Array.isArray(given) ? given.filter((name) => !known.includes(name)) : [];
    return missing.length === 0 ? [] : [{ list, missing }];
  });
  return lists.map(({ list, missing }) => ({
    param: 'tools',
    message: `\`${slug}\` has no tool ${missing.map((name) => `\`${name}\``).join(', ')}, which \`${list}\` names.`,
  }));
}
