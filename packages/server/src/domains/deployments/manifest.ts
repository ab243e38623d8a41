import { isDeepStrictEqual } from 'node:util';
import type { deploymentFile } from '@vestra/contract/deployment-file';
import { manifest, type shownManifest } from '@vestra/contract/manifest';
import type { z } from 'zod';

/** The settings as a caller sends them, checked for their form alone. */
export type GivenManifest = z.output<typeof manifest>;

/** The settings of a version: every MCP server has its slug and URL. */
export type Manifest = z.output<typeof shownManifest>;

/** What a deployment file declares beside the settings. */
export type FileObjects = Pick<z.output<typeof deploymentFile>, 'tests' | 'routines' | 'webhooks'>;

export const noFileObjects: FileObjects = { tests: [], routines: [], webhooks: [] };

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
  return { ...complete, tools: complete.tools.map((tool) => ({ ...functionDefaults, ...tool })) };
}

const functionDefaults = { input: {}, timeout_s: 120, read_only: false, run_without_asking: false };

/** The ids of everything of the org that the manifest names, each once. */
export function usesOf({ mcp_servers, skills, notebooks, environment }: Manifest): string[] {
  const skillIds = skills.flatMap((skill) => ('id' in skill ? [skill.id] : []));
  const fileIds = environment?.files.map((file) => file.file_id) ?? [];
  return [...new Set([...mcp_servers.map((server) => server.id), ...skillIds, ...notebooks, ...fileIds])];
}
