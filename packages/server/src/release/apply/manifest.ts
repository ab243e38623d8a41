import { isDeepStrictEqual } from 'node:util';
import { deploymentFile } from '@vestra/contract/deployment-file';
import { nameOfRoutine } from '@vestra/contract/routine-name';
import { withFullReferences } from '@vestra/contract/secrets-in-text';
import { functionEntry, noToolPolicy } from '@vestra/contract/tool-entry';
import type { DeploymentDependencies, DeploymentRow, VersionRow } from '../../agents/deployments/index.ts';
import { findById, type RegisteredServer } from '../../agents/tool-servers/index.ts';
import {
  defaultManifest,
  type FileObjects,
  type Manifest,
  repoNamed,
  withoutRepeats,
} from '../../agents/versions/index.ts';
import type { FileRoutine } from '../../automation/index.ts';
import type { FileScenario } from '../../evaluation/index.ts';
import type { Executor } from '../../platform/db/pool.ts';
import { type DeploymentFile, type FileKey, fileKeys, type ServerEntry, type WrittenFile } from './parts.ts';
import { nameFromUrl, writtenHeaders } from './servers.ts';

/** The content of a version: its settings, and the objects that the file declares. */
export type VersionContent = { manifest: Manifest; fileObjects: FileObjects };

/** `servers` are the servers of the MCP entries, in the same order. */
export function fileToManifest(
  file: DeploymentFile,
  servers: readonly Pick<RegisteredServer, 'id' | 'slug' | 'url'>[],
): VersionContent {
  const entries = file.tools.filter((entry) => 'mcp' in entry);
  const { tests, routines, webhooks } = file;
  return {
    manifest: withoutRepeats({
      instructions: file.instructions,
      language: file.language,
      model: file.model,
      ...(file.reasoning !== undefined && { reasoning: file.reasoning }),
      ...(file.opening !== undefined && { opening: file.opening }),
      mcp_servers: servers.map(({ id, slug, url }) => ({ id, slug, url })),
      mcp_tool_policy: policiesOf(entries, servers),
      apps: file.apps,
      approvals: file.approvals,
      memory: file.memory ?? null,
      notebooks: listOf(file.knowledge).flatMap((entry) => (typeof entry === 'string' ? [] : [entry.notebook])),
      skills: listOf(file.skills).filter((skill) => typeof skill !== 'string'),
      tools: file.tools.filter((entry) => 'function' in entry),
      environment: environmentOf(file.computer),
      browser: file.browser ?? null,
      limits: file.limits,
    }),
    fileObjects: { tests, routines, webhooks },
  };
}

/** Servers without tool settings get no policy. */
function policiesOf(entries: readonly ServerEntry[], servers: readonly Pick<RegisteredServer, 'slug'>[]) {
  const policies = entries.map(({ allow, deny, require_approval, run_without_asking, approver }, at) => ({
    slug: servers[at]?.slug as string,
    policy: { ...(allow && { allow }), deny, require_approval, run_without_asking, approver },
  }));
  const given = policies.filter(({ policy }) => !isDeepStrictEqual(policy, noToolPolicy));
  return Object.fromEntries(given.map(({ slug, policy }) => [slug, policy]));
}

/** An empty computer is the same as none. */
export function environmentOf(computer: DeploymentFile['computer'] | Manifest['environment']): Manifest['environment'] {
  if (!computer) return null;
  const { setup, repos, env } = computer;
  const files = computer.files.flatMap(({ file_id, path, sha256 }) =>
    file_id === undefined ? [] : [{ file_id, path, ...(sha256 !== undefined && { sha256 }) }],
  );
  const isEmpty = !setup && repos.length === 0 && files.length === 0 && Object.keys(env).length === 0;
  return isEmpty ? null : { ...(setup && { setup }), repos, env, files };
}

const listOf = <Item>(given: string | readonly Item[]): readonly (string | Item)[] =>
  typeof given === 'string' ? [given] : given;

/**
 * The file that changes nothing if it is applied again, without defaults. Servers come before functions and as they are
 * registered now; a deleted server is written with its last URL.
 */
export function manifestToFile(
  name: string,
  { manifest, fileObjects }: VersionContent,
  servers: ReadonlyMap<string, RegisteredServer>,
): WrittenFile {
  const environment = environmentOf(manifest.environment);
  const whole: WrittenFile = {
    name,
    instructions: manifest.instructions,
    language: manifest.language,
    model: manifest.model,
    ...(manifest.reasoning !== undefined && { reasoning: manifest.reasoning }),
    ...(manifest.opening !== undefined && { opening: manifest.opening }),
    apps: manifest.apps,
    tools: [
      ...manifest.mcp_servers.map((server) => ({
        ...writtenServer(servers.get(server.id) ?? { name: nameFromUrl(server.url), url: server.url, headers: {} }),
        ...withoutDefaults(manifest.mcp_tool_policy[server.slug] ?? {}, noToolPolicy),
      })),
      ...manifest.tools.map(({ function: called, description, ...rest }) => ({
        function: called,
        description,
        ...withoutDefaults(rest, functionDefaults),
      })),
    ],
    skills: manifest.skills,
    knowledge: manifest.notebooks.map((notebook) => ({ notebook })),
    approvals: manifest.approvals,
    ...(manifest.memory !== null && { memory: manifest.memory }),
    ...(environment && { computer: withoutDefaults(withoutHashes(environment), { repos: [], env: {}, files: [] }) }),
    ...(manifest.browser && { browser: manifest.browser }),
    routines: fileObjects.routines.map(({ enabled, ...routine }) => ({ ...routine, ...(!enabled && { enabled }) })),
    limits: withoutDefaults(manifest.limits, defaults.limits),
    tests: fileObjects.tests,
    webhooks: fileObjects.webhooks.map((webhook) => ({
      ...webhook,
      ...(isDeepStrictEqual(webhook.events, ['*']) && { events: '*' as const }),
    })),
  };
  const given = fileKeys.filter((key) => !isDeepStrictEqual(whole[key], emptied[key]) && whole[key] !== undefined);
  return { name, ...Object.fromEntries(given.map((key) => [key, stored(whole[key])])) };
}

/** A file names its files by id, and the version knows their content. */
const withoutHashes = (environment: NonNullable<Manifest['environment']>) => ({
  ...environment,
  files: environment.files.map(({ file_id, path }) => ({ file_id, path })),
});

const defaults = deploymentFile.parse({ name: 'x' });
const emptied: Partial<Record<keyof WrittenFile, unknown>> = { ...defaults, limits: {} };
const functionDefaults = functionEntry.omit({ function: true, description: true }).parse({}) as Record<string, unknown>;

function writtenServer({ name, url, headers }: Pick<RegisteredServer, 'name' | 'url' | 'headers'>) {
  return { mcp: url, ...(name !== nameFromUrl(url) && { name }), ...writtenHeaders(headers) };
}

function withoutDefaults<Given extends object>(
  given: Given,
  standard: Partial<Record<string, unknown>>,
): Partial<Given> {
  const kept = Object.entries(given).filter(([key, value]) => !isDeepStrictEqual(value, standard[key]));
  return Object.fromEntries(kept) as Partial<Given>;
}

/** Drops undefined values, which YAML would write as null. */
const stored = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const nothing: VersionContent = { manifest: defaultManifest, fileObjects: { tests: [], routines: [], webhooks: [] } };

/**
 * Keys of the file whose meaning differs from the previous version, or from the defaults for a first version. Notation
 * does not matter: explicit defaults, the order of keys, or a list of one.
 */
export function changedFileKeys(before: VersionContent | null, after: VersionContent): FileKey[] {
  const [old, now] = [meaningOf(before ?? nothing), meaningOf(after)];
  return fileKeys.filter((key) => !isDeepStrictEqual(old[key], now[key]));
}

function meaningOf({ manifest, fileObjects }: VersionContent): Record<FileKey, unknown> {
  const meaning: Record<FileKey, unknown> = {
    instructions: manifest.instructions,
    language: manifest.language,
    model: manifest.model,
    reasoning: manifest.reasoning,
    opening: manifest.opening,
    apps: manifest.apps,
    tools: {
      functions: manifest.tools,
      // A server that moved to another URL is the same server.
      servers: manifest.mcp_servers.map(({ id, slug }) => [id, manifest.mcp_tool_policy[slug] ?? noToolPolicy]),
    },
    skills: manifest.skills,
    knowledge: manifest.notebooks,
    approvals: manifest.approvals,
    memory: manifest.memory,
    computer: computerMeaning(manifest.environment),
    browser: manifest.browser,
    routines: fileObjects.routines.map(routineOfEntry),
    limits: manifest.limits,
    tests: fileObjects.tests.map(scenarioOfTest),
    webhooks: fileObjects.webhooks.map(({ description = '', secret, ...webhook }) => ({
      ...webhook,
      description,
      ...(secret !== undefined && { secret: withFullReferences(secret) }),
    })),
  };
  // Normalises like the database: no undefined values, and no negative zero.
  return JSON.parse(JSON.stringify(meaning));
}

function computerMeaning(computer: VersionContent['manifest']['environment']): unknown {
  const environment = environmentOf(computer);
  if (environment === null) return null;
  const repos = environment.repos.map((repo) => {
    const { token, ...named } = repoNamed(repo);
    return { ...named, token: token?.replace('secret:', '') };
  });
  return { ...environment, repos };
}

export const firstTimePersona = 'A person who uses this agent for the first time.';

export function scenarioOfTest(test: FileObjects['tests'][number]): FileScenario {
  return {
    name: test.name,
    persona: test.persona ?? firstTimePersona,
    goal: test.ask,
    success_criteria: typeof test.expect === 'string' ? [test.expect] : test.expect,
    must_never: typeof test.never === 'string' ? [test.never] : (test.never ?? []),
    ...(test.tool_results !== undefined && { tool_results: test.tool_results }),
    ...(test.recorded_calls !== undefined && { recorded_calls: test.recorded_calls }),
    ...(test.approves === true && { approves: true }),
    ...(test.runs !== undefined && test.runs > 1 && { runs: test.runs }),
    ...(test.as !== undefined && { acts_as: actsAs(test.as) }),
  };
}

const actsAs = ({ user_id, secrets = {} }: NonNullable<FileObjects['tests'][number]['as']>) => ({
  ...(user_id !== undefined && { user_id }),
  secrets: Object.fromEntries(Object.entries(secrets).map(([name, value]) => [name, withFullReferences(value)])),
});

/** The tests of the file that the version was saved from. */
export const fileScenariosOf = ({ file_objects }: Pick<VersionRow, 'file_objects'>): FileScenario[] =>
  file_objects.tests.map(scenarioOfTest);

/** Adds the name that identifies the routine in later applies, and the users that it runs for. */
export function routineOfEntry({ for: users = [], ...entry }: FileObjects['routines'][number]): FileRoutine {
  return { ...entry, name: nameOfRoutine(entry), users: typeof users === 'string' ? [users] : users };
}

type SavedVersion = Pick<VersionRow, 'manifest' | 'file_objects' | 'content'>;

/**
 * The file of a version. Headers that only the version has are its own. `fixed` says what else of its servers is as the
 * version fixed it; the rest is as it is registered now.
 */
export async function fileOfVersion(
  db: Executor,
  { org_id, slug }: Pick<DeploymentRow, 'org_id' | 'slug'>,
  { manifest, file_objects, content }: SavedVersion,
  { fixed }: { fixed: 'nothing' | 'headers' | 'everything' },
): Promise<WrittenFile> {
  const ids = manifest.mcp_servers.map(({ id }) => id);
  const found = ids.length === 0 ? [] : await findById(db, org_id, ids, { hold: false });
  const urls = new Map(manifest.mcp_servers.map(({ id, url }) => [id, url]));
  const servers = found.map((server): [string, RegisteredServer] => {
    const saved = content.servers?.[server.id];
    const headers = saved && (saved.isOwn || fixed !== 'nothing') ? saved.headers : server.headers;
    const url = (fixed === 'everything' && urls.get(server.id)) || server.url;
    return [server.id, { ...server, url, headers }];
  });
  return manifestToFile(slug, { manifest, fileObjects: file_objects }, new Map(servers));
}

/**
 * Renders a version as the YAML of its deployment file. The newest follows its registered servers, so that applying the
 * file again changes nothing. An older one is what a rollback brings back.
 */
export const renderFile: DeploymentDependencies['renderFile'] = async (db, deployment, version) => {
  const fixed = version.version === deployment.newest_version ? 'nothing' : 'everything';
  const file = await fileOfVersion(db, deployment, version, { fixed });
  const { renderYaml } = await import('./render-yaml.ts');
  return renderYaml(file);
};
