import { isDeepStrictEqual } from 'node:util';
import { noToolPolicy } from '@vestra/contract/tool-entry';
import { defaultManifest, repoNamed } from '../../agents/versions/index.ts';
import { type FileKey, fileKeys } from './file-keys.ts';
import { routineOfEntry, scenarioOfTest } from './file-objects.ts';
import { environmentOf, type Saved } from './file-to-manifest.ts';

const nothing: Saved = { manifest: defaultManifest, fileObjects: { tests: [], routines: [], webhooks: [] } };

/**
 * The keys of the file that mean something else than in the version before; of a first version, than the defaults. How
 * a thing is written makes no difference: a default spelled out, the order of keys, one line or a list of one.
 */
export function changedFileKeys(before: Saved | null, after: Saved): FileKey[] {
  const [old, now] = [meaningOf(before ?? nothing), meaningOf(after)];
  return fileKeys.filter((key) => !isDeepStrictEqual(old[key], now[key]));
}

function meaningOf({ manifest, fileObjects }: Saved): Record<FileKey, unknown> {
  const meaning: Record<FileKey, unknown> = {
    instructions: manifest.instructions,
    language: manifest.language,
    model: manifest.model,
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
    webhooks: fileObjects.webhooks.map(({ description = '', ...webhook }) => ({ ...webhook, description })),
  };
  // As the database keeps it: without keys that hold nothing, and with one zero.
  return JSON.parse(JSON.stringify(meaning));
}

function computerMeaning(computer: Saved['manifest']['environment']): unknown {
  const environment = environmentOf(computer);
  if (environment === null) return null;
  const repos = environment.repos.map((repo) => {
    const { token, ...named } = repoNamed(repo);
    return { ...named, token: token?.replace('secret:', '') };
  });
  return { ...environment, repos };
}
