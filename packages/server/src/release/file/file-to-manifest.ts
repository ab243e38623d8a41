import { isDeepStrictEqual } from 'node:util';
import { noToolPolicy } from '@vestra/contract/tool-entry';
import type { RegisteredServer } from '../../agents/tool-servers/index.ts';
import { type FileObjects, type Manifest, withoutRepeats } from '../../agents/versions/index.ts';
import type { DeploymentFile, ServerEntry } from './parts.ts';

/** A version's content: its settings, and what the file declares beside them. */
export type Saved = { manifest: Manifest; fileObjects: FileObjects };

/** `servers` are those of the file's MCP entries, in their order. */
export function fileToManifest(
  file: DeploymentFile,
  servers: readonly Pick<RegisteredServer, 'id' | 'slug' | 'url'>[],
): Saved {
  const entries = file.tools.filter((entry) => 'mcp' in entry);
  const { tests, routines, webhooks } = file;
  return {
    manifest: withoutRepeats({
      instructions: file.instructions,
      language: file.language,
      model: file.model,
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

/** A server of which nothing is said has no policy. */
function policiesOf(entries: readonly ServerEntry[], servers: readonly Pick<RegisteredServer, 'slug'>[]) {
  const policies = entries.map(({ deny, require_approval, run_without_asking, approver }, at) => ({
    slug: servers[at]?.slug as string,
    policy: { deny, require_approval, run_without_asking, approver },
  }));
  const given = policies.filter(({ policy }) => !isDeepStrictEqual(policy, noToolPolicy));
  return Object.fromEntries(given.map(({ slug, policy }) => [slug, policy]));
}

/** A computer on which nothing is prepared is the same as none. */
export function environmentOf(computer: DeploymentFile['computer'] | null): Manifest['environment'] {
  if (!computer) return null;
  const { setup, repos, env, files } = computer;
  const isEmpty = !setup && repos.length === 0 && files.length === 0 && Object.keys(env).length === 0;
  return isEmpty ? null : { ...(setup && { setup }), repos, env, files };
}

const listOf = <Item>(given: string | readonly Item[]): readonly (string | Item)[] =>
  typeof given === 'string' ? [given] : given;
