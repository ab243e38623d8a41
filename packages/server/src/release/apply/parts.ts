import { computer, fileComputer } from '@vestra/contract/computer';
import { deploymentFile } from '@vestra/contract/deployment-file';
import { manifest } from '@vestra/contract/manifest';
import { functionEntry, serverEntry } from '@vestra/contract/tool-entry';
import { z } from 'zod';

export type DeploymentFile = z.output<typeof deploymentFile>;
/** A deployment file before its defaults are filled in. */
export type WrittenFile = z.input<typeof deploymentFile>;
export type FunctionEntry = z.output<typeof functionEntry>;
export type ServerEntry = z.output<typeof serverEntry>;

/** An accepted value that may not be intended, or a line that has no effect. */
export type FileWarning = { param: string; message: string };

/** A well-formed part of the request, with the path for its faults. */
export type PlacedValue<Value> = { at: string; value: Value };

/** A list entry with its well-formed fields; `given` names all fields that were sent. */
export type PlacedEntry<Entry> = PlacedValue<Partial<Entry>> & { given: ReadonlySet<string> };

type Repo = { url: string; ref?: string | undefined; path?: string | undefined; token?: string | undefined };

/** Settings that the file and the manifest share. */
export type SettingParts = {
  model: PlacedValue<string>[];
  memory: PlacedValue<NonNullable<DeploymentFile['memory']>>[];
  functions: PlacedEntry<FunctionEntry>[];
  apps: PlacedValue<string>[];
  approvals: PlacedValue<string>[];
  skills: PlacedValue<{ id: string } | { name: string }>[];
  notebooks: PlacedValue<string>[];
  repos: (PlacedValue<Repo> & { urlAt: string })[];
  setup: PlacedValue<string>[];
  env: (PlacedValue<string> & { name: string })[];
  /** Files with a path. One that the client uploads later has `from` and no id. */
  files: PlacedValue<{ file_id?: string | undefined; from?: string | undefined; path: string }>[];
};

export type FileParts = SettingParts & {
  name: PlacedValue<string>[];
  servers: PlacedEntry<ServerEntry>[];
  localPaths: PlacedValue<string>[];
  routines: PlacedEntry<DeploymentFile['routines'][number]>[];
  tests: PlacedEntry<DeploymentFile['tests'][number]>[];
  webhooks: PlacedEntry<DeploymentFile['webhooks'][number]>[];
  /** Every entry of `tools` has a function name or a URL. */
  knowsAllTools: boolean;
};

/**
 * The well-formed parts of a deployment file, whatever else is wrong. So one response can report faults of form and of
 * meaning.
 */
export function fileParts(body: unknown): FileParts {
  const given = asObject(body);
  const { shape } = deploymentFile;
  const tools = items(given.tools, 'tools');
  const servers = tools.filter(({ value }) => 'mcp' in asObject(value)).map((item) => fields(serverEntry, item));
  const skills = shape.skills.unwrap().options;
  const knowledge = shape.knowledge.unwrap().options;
  const settings = settingParts(given, { at: '', computer: 'computer' });
  return {
    ...settings,
    name: one(shape.name, given.name, 'name'),
    notebooks: items(given.knowledge, 'knowledge', longest.notebooks).flatMap(({ at, value }) =>
      one(manifest.shape.notebooks.unwrap().element, asObject(value).notebook, `${at}.notebook`),
    ),
    servers,
    localPaths: [
      ...one(skills[0], given.skills, 'skills'),
      ...items(given.skills, 'skills').flatMap(({ at, value }) => one(skills[0], value, at)),
      ...one(knowledge[0], given.knowledge, 'knowledge'),
      ...items(given.knowledge, 'knowledge').flatMap(({ at, value }) => one(knowledge[0], value, at)),
      ...items(asObject(given.computer).files, 'computer.files').flatMap(({ at, value }) =>
        one(z.string(), asObject(value).from, `${at}.from`),
      ),
    ],
    routines: items(given.routines, 'routines').map((item) => fields(shape.routines.unwrap().element, item)),
    tests: items(given.tests, 'tests').map((item) => fields(shape.tests.unwrap().element, item)),
    webhooks: items(given.webhooks, 'webhooks').map((item) => fields(shape.webhooks.unwrap().element, item)),
    knowsAllTools:
      (given.tools === undefined || Array.isArray(given.tools)) &&
      tools.length ===
        settings.functions.filter(({ value }) => value.function !== undefined).length +
          servers.filter(({ value }) => value.mcp !== undefined).length,
  };
}

/** The parts of a manifest, or of the keys that a file shares with it. `at` is the prefix of each path. */
export function settingParts(
  body: unknown,
  { at, computer: computerKey }: { at: string; computer: 'computer' | 'environment' },
): SettingParts {
  const given = asObject(body);
  const { shape } = manifest;
  const computerAt = `${at}${computerKey}`;
  const prepared = asObject(given[computerKey]);
  return {
    model: one(shape.model, given.model, `${at}model`),
    memory: one(shape.memory.unwrap().unwrap(), given.memory, `${at}memory`),
    functions: items(given.tools, `${at}tools`)
      .filter(({ value }) => 'function' in asObject(value))
      .map((item) => fields(functionEntry, item)),
    apps: items(given.apps, `${at}apps`, longest.apps).flatMap((item) => one(z.string(), item.value, item.at)),
    approvals: items(given.approvals, `${at}approvals`, longest.approvals).flatMap((item) =>
      one(z.string(), item.value, item.at),
    ),
    skills: items(given.skills, `${at}skills`).flatMap((item) =>
      one(shape.skills.unwrap().element, item.value, item.at),
    ),
    notebooks: items(given.notebooks, `${at}notebooks`, longest.notebooks).flatMap((item) =>
      one(shape.notebooks.unwrap().element, item.value, item.at),
    ),
    repos: items(prepared.repos, `${computerAt}.repos`)
      .flatMap((item) => one(computer.shape.repos.unwrap().element, item.value, item.at))
      .map(({ at: place, value }) => ({
        at: place,
        urlAt: typeof value === 'string' ? place : `${place}.url`,
        value: asRepo(value),
      })),
    setup: one(z.string(), prepared.setup, `${computerAt}.setup`),
    env: Object.entries(asObject(prepared.env)).flatMap(([name, value]) =>
      one(z.string(), value, `${computerAt}.env.${name}`).map((placed) => ({ ...placed, name })),
    ),
    files: items(prepared.files, `${computerAt}.files`).flatMap((item) => {
      const { at: place, value } = fields(fileComputer.shape.files.unwrap().element, item);
      return value.path === undefined ? [] : [{ at: place, value: { ...value, path: value.path } }];
    }),
  };
}

export const asRepo = (repo: string | Repo): Repo => (typeof repo === 'string' ? { url: repo } : repo);

/** A longer list is refused as a whole, so its items are not read. */
const longest = { apps: 200, approvals: 6, notebooks: 50, any: 100 };

function items(list: unknown, at: string, most = longest.any): PlacedValue<unknown>[] {
  if (!Array.isArray(list) || list.length > most) return [];
  return list.map((value, index) => ({ at: `${at}.${index}`, value }));
}

function one<Schema extends z.ZodType>(schema: Schema, given: unknown, at: string): PlacedValue<z.output<Schema>>[] {
  if (given === undefined) return [];
  const read = schema.safeParse(given);
  return read.success ? [{ at, value: read.data }] : [];
}

function fields<Schema extends z.ZodObject>(
  schema: Schema,
  { at, value }: PlacedValue<unknown>,
): PlacedEntry<z.output<Schema>> {
  const given = asObject(value);
  const read = Object.entries(schema.shape).flatMap(([key, field]) => {
    const result = (field as z.ZodType).safeParse(given[key]);
    return result.success && result.data !== undefined ? [[key, result.data]] : [];
  });
  return { at, value: Object.fromEntries(read), given: new Set(Object.keys(given)) };
}

const asObject = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

/** In the order of the documentation, which rendering and comparing follow. */
export const fileKeys = [
  'instructions',
  'language',
  'model',
  'reasoning',
  'opening',
  'apps',
  'tools',
  'skills',
  'knowledge',
  'approvals',
  'memory',
  'computer',
  'browser',
  'routines',
  'limits',
  'tests',
  'webhooks',
] as const satisfies readonly (keyof DeploymentFile)[];

export type FileKey = (typeof fileKeys)[number];
