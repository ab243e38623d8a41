import { isDeepStrictEqual } from 'node:util';
import type { deploymentFile } from '@vestra/contract/deployment-file';
import { manifest, type shownManifest } from '@vestra/contract/manifest';
import { noToolPolicy } from '@vestra/contract/tool-entry';
import type { z } from 'zod';

/** The settings in a request, validated by the schema only. */
export type GivenManifest = z.output<typeof manifest>;

/** The settings of a version, with the slug and URL of every MCP server. */
export type Manifest = z.output<typeof shownManifest>;

/** Objects that a deployment file declares besides the settings. */
export type FileObjects = Pick<z.output<typeof deploymentFile>, 'tests' | 'routines' | 'webhooks'>;

export const noFileObjects: FileObjects = { tests: [], routines: [], webhooks: [] };

/**
 * Content that a version fixes: a revision of each notebook, the hash of the files of each company skill, and the
 * headers of each tool server. Versions of older releases have no headers if their server had moved.
 */
export type FixedContent = {
  notebooks: Readonly<Record<string, number>>;
  skills: Readonly<Record<string, string>>;
  servers?: FixedServers;
};

/** By the id of the server. Headers refer to secrets and never contain one. */
export type FixedServers = Readonly<Record<string, FixedServer>>;

/**
 * `isOwn`: the file's headers become the registered ones when the version goes live. `declared`: the settings of the
 * server that the file wrote, so that a removed line can be told from one that was never there.
 */
type FixedServer = {
  headers: Readonly<Record<string, string>>;
  isOwn?: true;
  declared?: readonly ('name' | 'headers')[];
};

export const noContent: FixedContent = { notebooks: {}, skills: {} };

/** The contract's defaults name no MCP server, so the result needs no slugs or URLs from the database. */
export const defaultManifest = manifest.parse({}) as Manifest;

const manifestKeys = Object.keys(defaultManifest) as (keyof Manifest)[];

/**
 * Returns the keys that differ from the previous version, or from the defaults for a first version. The order of keys
 * and keys without a value do not count.
 */
export function changedKeys(before: Manifest | null, after: Manifest): string[] {
  const compared = before ?? defaultManifest;
  return manifestKeys.filter((key) => !isDeepStrictEqual(asStored(compared[key]), asStored(after[key])));
}

const asStored = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/**
 * Adds defaults for keys that were introduced after the manifest was saved. It is not validated again: a version that
 * ran before must keep running.
 */
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

/** The entry of `uses` that keeps the content of a file while a version needs it. */
export const fixedBytes = (sha256: string) => `sha256:${sha256}`;

/** Returns the ids of all resources that the manifest names, each once, and the hashes of its files. */
export function usesOf({ mcp_servers, skills, notebooks, environment }: Manifest): string[] {
  const skillIds = skills.flatMap((skill) => ('id' in skill ? [skill.id] : []));
  const files = environment?.files.flatMap(({ file_id, sha256 }) => [file_id, ...(sha256 ? [fixedBytes(sha256)] : [])]);
  return [...new Set([...mcp_servers.map((server) => server.id), ...skillIds, ...notebooks, ...(files ?? [])])];
}

/** Removes repeated entries, which have no effect. */
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

/** Only the home folder of a computer is writable, so an absolute path elsewhere is taken relative to it. */
export const inHome = (path: string) =>
  path === homeFolder || path.startsWith(`${homeFolder}/`) ? path : path.replace(/^\/+/, '');

/** Absolute paths of the repositories on a computer. */
export const repoFolders = ({ environment }: Pick<Manifest, 'environment'>): string[] =>
  (environment?.repos ?? []).map((repo) => {
    const path = inHome(repoNamed(repo).path);
    return path.startsWith('/') ? path : `${homeFolder}/${path}`;
  });

/** Normalizes the short and the long form of a repository. */
export function repoNamed(repo: Repo): { url: string; ref: string; path: string; token: string | null } {
  const { url: written, ref = 'main', path, token = null } = typeof repo === 'string' ? { url: repo } : repo;
  const url = (/^https?:\/\//.test(written) ? written : `https://${written}`).replace(/\/$/, '');
  return { url, ref, path: path ?? (url.split('/').at(-1) as string).replace(/\.git$/, ''), token };
}
