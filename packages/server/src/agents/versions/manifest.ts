import { isDeepStrictEqual } from 'node:util';
import type { deploymentFile } from '@vestra/contract/deployment-file';
import { manifest, type shownManifest } from '@vestra/contract/manifest';
import { noToolPolicy } from '@vestra/contract/tool-entry';
import type { z } from 'zod';

/** The settings as a caller sends them, checked for their form alone. */
export type GivenManifest = z.output<typeof manifest>;

/** The settings of a version: every MCP server has its slug and URL. */
export type Manifest = z.output<typeof shownManifest>;

/** What a deployment file declares beside the settings. */
export type FileObjects = Pick<z.output<typeof deploymentFile>, 'tests' | 'routines' | 'webhooks'>;

export const noFileObjects: FileObjects = { tests: [], routines: [], webhooks: [] };

/** What a version fixes: of each notebook a revision, of each skill of the org the hash of its files. */
export type FixedContent = {
  notebooks: Readonly<Record<string, number>>;
  skills: Readonly<Record<string, string>>;
};

export const noContent: FixedContent = { notebooks: {}, skills: {} };

/** What an empty manifest means. The contract's defaults name no MCP server, so nothing is left to look up. */
export const defaultManifest = manifest.parse({}) as Manifest;

const manifestKeys = Object.keys(defaultManifest) as (keyof Manifest)[];

/**
 * The keys that differ from the version before; of a first version, from the defaults. Neither the order of keys nor a
 * key that is there without a value makes a difference.
 */
export function changedKeys(before: Manifest | null, after: Manifest): string[] {
  const compared = before ?? defaultManifest;
  return manifestKeys.filter((key) => !isDeepStrictEqual(asStored(compared[key]), asStored(after[key])));
}

const asStored = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** A saved manifest with the keys that came after it at their defaults. It is not checked again: it ran, so it runs. */
export function completeManifest(saved: Partial<Manifest>): Manifest {
  const complete = { ...defaultManifest, ...saved };
  const policies = Object.entries(complete.mcp_tool_policy);
  return {
    ...complete,
    tools: complete.tools.map((tool) => ({ ...functionDefaults, ...tool })),
    mcp_tool_policy: Object.fromEntries(policies.map(([slug, policy]) => [slug, { ...noToolPolicy, ...policy }])),
  };
}

const functionDefaults = {
  input: {},
  timeout_s: 120,
  read_only: false,
  run_without_asking: false,
  approver: 'user' as const,
};

/** The ids of everything of the org that the manifest names, each once. */
export function usesOf({ mcp_servers, skills, notebooks, environment }: Manifest): string[] {
  const skillIds = skills.flatMap((skill) => ('id' in skill ? [skill.id] : []));
  const fileIds = environment?.files.map((file) => file.file_id) ?? [];
  return [...new Set([...mcp_servers.map((server) => server.id), ...skillIds, ...notebooks, ...fileIds])];
}

/** Naming the same thing again says nothing more: of such entries one is saved. */
export function withoutRepeats<Given extends GivenManifest | Manifest>(given: Given): Given {
  const { apps, approvals, notebooks, skills, environment } = given;
  return {
    ...given,
    apps: apps === 'all' ? apps : eachOnce(apps),
    approvals: eachOnce(approvals),
    notebooks: eachOnce(notebooks),
    skills: eachOnce(skills),
    environment: environment && {
      ...environment,
      repos: eachOnce(environment.repos, repoNamed),
      files: eachOnce(environment.files),
    },
  };
}

const eachOnce = <Item>(items: readonly Item[], meaning: (item: Item) => unknown = (item) => item): Item[] =>
  items.filter((item, at) => items.findIndex((other) => isDeepStrictEqual(meaning(other), meaning(item))) === at);

type Repo = NonNullable<Manifest['environment']>['repos'][number];

const homeFolder = '/home/agent';

/** Nothing but the home folder of a computer can be written, so a path from the root is one from there. */
export const inHome = (path: string) =>
  path === homeFolder || path.startsWith(`${homeFolder}/`) ? path : path.replace(/^\/+/, '');

/** Where the repositories of a version lie on its computers. */
export const repoFolders = ({ environment }: Pick<Manifest, 'environment'>): string[] =>
  (environment?.repos ?? []).map((repo) => {
    const path = inHome(repoNamed(repo).path);
    return path.startsWith('/') ? path : `${homeFolder}/${path}`;
  });

/** What a repository of a computer means, however it is written. */
export function repoNamed(repo: Repo): { url: string; ref: string; path: string; token: string | null } {
  const { url: written, ref = 'main', path, token = null } = typeof repo === 'string' ? { url: repo } : repo;
  const url = (/^https?:\/\//.test(written) ? written : `https://${written}`).replace(/\/$/, '');
  return { url, ref, path: path ?? (url.split('/').at(-1) as string).replace(/\.git$/, ''), token };
}
