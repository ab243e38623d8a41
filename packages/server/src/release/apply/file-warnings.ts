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
