import { readFileSync } from 'node:fs';
import { createRequire, findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type JsonRecord, recordOf, textOf } from '../wires/json.ts';
import { type AiSdkModel, type AiSdkVersion, aiSdkVersions } from './language-model.ts';

/** A provider package as an entry of the operator's file names it. */
export type ProviderPackage = {
  name: string;
  /** The file that `import` loads. */
  url: string;
  /** The exported function that creates the provider. Default: the one that is named after the package. */
  factory: string | null;
  /** Settings that the package documents, such as a region. */
  options: Readonly<Record<string, unknown>>;
};

/** The package cannot be used. The message is for the operator. */
export class PackageFault extends Error {}

/** Finds the package in the folder where the server runs, or beside the server itself; null if it is not installed. */
export function findProviderPackage(name: string, folder: string = process.cwd()): string | null {
  for (const base of [pathToFileURL(join(folder, 'package.json')).href, import.meta.url]) {
    const url = entryOf(name, base);
    if (url !== null) return url;
  }
  return null;
}

function entryOf(name: string, base: string): string | null {
  try {
    return pathToFileURL(createRequire(base).resolve(name)).href;
  } catch {
    return importOnlyEntryOf(name, base);
  }
}

/** `require.resolve` does not see packages whose exports name only an `import` condition. */
function importOnlyEntryOf(name: string, base: string): string | null {
  try {
    const file = findPackageJSON(name, base);
    if (file === undefined) return null;
    const { exports } = recordOf(JSON.parse(readFileSync(file, 'utf8')));
    const main = recordOf(exports)['.'] ?? exports;
    const target = recordOf(main).import ?? main;
    const path = textOf(target) || textOf(recordOf(target).default);
    return path === '' ? null : pathToFileURL(join(dirname(file), path)).href;
  } catch {
    return null;
  }
}

/** Loads the package and creates one of its models. */
export async function openPackagedModel(
  { name, url, factory, options }: ProviderPackage,
  modelId: string,
  { apiKey, baseUrl }: { apiKey: string | null; baseUrl: string | null },
): Promise<{ model: AiSdkModel; version: AiSdkVersion }> {
  const create = factoryIn(name, await loaded(name, url), factory);
  const settings = { ...options, ...(apiKey !== null && { apiKey }), ...(baseUrl !== null && { baseURL: baseUrl }) };
  const provider: unknown = create(settings);
  const open = recordOf(provider).languageModel ?? provider;
  if (typeof open !== 'function') throw new PackageFault(`The package ${name} creates no language models.`);
  const model = open.call(provider, modelId) as AiSdkModel;
  const version = aiSdkVersions.find((each) => each === recordOf(model).specificationVersion);
  if (version === undefined || typeof model.doStream !== 'function') {
    const found = textOf(recordOf(model).specificationVersion) || 'none';
    throw new PackageFault(
      `The package ${name} has version ${found} of the AI SDK's language-model interface; ${aiSdkVersions.join(', ')} can be used.`,
    );
  }
  return { model, version };
}

async function loaded(name: string, url: string): Promise<JsonRecord> {
  try {
    return recordOf(await import(url));
  } catch (error) {
    const file = fileURLToPath(url);
    throw new PackageFault(`The package ${name} (${file}) could not be loaded: ${(error as Error).message}`);
  }
}

type CreateProvider = (settings: object) => unknown;

function factoryIn(name: string, exported: JsonRecord, wanted: string | null): CreateProvider {
  const factories = Object.keys(exported).filter(
    (key) => /^create[A-Z]/.test(key) && typeof exported[key] === 'function',
  );
  if (wanted !== null) {
    const found = exported[wanted];
    if (typeof found !== 'function') throw new PackageFault(`The package ${name} exports no function ${wanted}.`);
    return found as CreateProvider;
  }
  const named = name
    .split('/')
    .at(-1)
    ?.replaceAll(/[^a-z0-9]/gi, '');
  const only =
    factories.length === 1
      ? factories[0]
      : factories.find((key) => key.toLowerCase() === `create${named?.toLowerCase()}`);
  if (only !== undefined) return exported[only] as CreateProvider;
  if (factories.length === 0)
    throw new PackageFault(`The package ${name} exports no function that creates a provider.`);
  throw new PackageFault(
    `The package ${name} exports several functions that create a provider: set \`factory\` to one of ${factories.join(', ')}.`,
  );
}
