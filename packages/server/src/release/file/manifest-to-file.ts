import { isDeepStrictEqual } from 'node:util';
import { deploymentFile } from '@vestra/contract/deployment-file';
import { functionEntry, noToolPolicy } from '@vestra/contract/tool-entry';
import type { z } from 'zod';
import type { RegisteredServer } from '../../agents/tool-servers/index.ts';
import { fileKeys } from './file-keys.ts';
import { environmentOf, type Saved } from './file-to-manifest.ts';
import { nameFromUrl, writtenHeaders } from './server-entry.ts';

/** A deployment file as somebody would write it. */
export type WrittenFile = z.input<typeof deploymentFile>;

/**
 * The file that, applied again, changes nothing: what is at its default is left out. Servers come before functions, and
 * as they are registered now; one that is gone is written by the URL it had.
 */
export function manifestToFile(
  name: string,
  { manifest, fileObjects }: Saved,
  servers: ReadonlyMap<string, RegisteredServer>,
): WrittenFile {
  const environment = environmentOf(manifest.environment);
  const whole: WrittenFile = {
    name,
    instructions: manifest.instructions,
    language: manifest.language,
    model: manifest.model,
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
    ...(environment && { computer: withoutDefaults(environment, { repos: [], env: {}, files: [] }) }),
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

/** Without keys that hold nothing: YAML would write them as null. */
const stored = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
