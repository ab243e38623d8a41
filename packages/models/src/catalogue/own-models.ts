import { z } from 'zod';
import type { PlacedModel } from '../prices.ts';
import { findProviderPackage, type ProviderPackage } from '../vendors/ai-sdk/provider-package.ts';
import { type Entry, entryFields } from './entry.ts';
import { knownModels, wireNameOf } from './known-models.ts';

const providers = ['anthropic', 'openai', 'google', 'bedrock', 'vertex', 'azure', 'compatible', 'ai-sdk'] as const;

const { id, ...fields } = entryFields;

/** The fields of an entry in the operator's file. A known model needs only the differences, another one all facts. */
const optional = z.strictObject({
  provider: z.enum(providers, `must be one of ${providers.join(', ')}`),
  /** A known model that this one resembles. Fields given here override it. */
  like: z.string(),
  /** The name at the endpoint. Default: the id without everything before its first slash. */
  model: z.string().min(1).max(200),
  /** An installed package with the AI SDK's language-model interface, such as `@ai-sdk/mistral`. */
  package: z.string().regex(/^(@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/, 'must be the name of an npm package'),
  /** The function of the package that creates its provider, if it has several. */
  factory: z.string().regex(/^[A-Za-z]\w{0,99}$/, 'must be the name of a function'),
  /** Settings that the package documents. Keys belong into `api_key_env`. */
  options: z.record(z.string().max(100), z.union([z.string().max(1000), z.number(), z.boolean()])),
  base_url: z.url({
    protocol: /^https?$/,
    error: 'must be an address with http or https, such as http://127.0.0.1:8000/v1',
  }),
  /** The environment variable with the key, so that the file with prices contains no secret. */
  api_key_env: z.string().regex(/^[A-Z][A-Z0-9_]{0,99}$/, 'must be the name of an environment variable'),
  ...fields,
});

const ownFile = z.array(z.strictObject({ id, ...optional.partial().shape })).max(1000, 'must be at most 1000 models');

type Given = z.output<typeof ownFile>[number];

const facts = [
  ...['price', 'price_changes', 'context_tokens', 'input_tokens', 'max_output_tokens', 'takes', 'reasons'],
  ...['forces_tools', 'retires_on', 'replacement'],
] as (keyof Facts)[];

type Facts = Partial<Omit<Entry, 'id' | 'name' | 'provider' | 'source' | 'sure'>>;

/** A model of the operator's file, completed with the known facts of it or of the model it resembles. */
export type OwnModel = Facts & {
  id: string;
  provider: (typeof providers)[number];
  name: string;
  /** The name at the endpoint. */
  model: string;
  endpoint: PlacedModel['endpoint'];
  packaged?: PlacedModel['packaged'];
  /** The maximum answer length from the file. */
  longestAnswer?: number;
};

/** A fault in the operator's file: the entry, the field and its allowed values. */
export class OwnModelsFault extends Error {}

type KeyNamed = (variable: string) => string | undefined;
type FindPackage = (name: string) => string | null;

/** `read`: the parsed file. `keyNamed` looks up the keys whose variables the entries name. */
export function ownModels(
  read: unknown,
  keyNamed: KeyNamed,
  findPackage: FindPackage = findProviderPackage,
): OwnModel[] {
  const list = isRecord(read) && 'models' in read ? read.models : read;
  const result = ownFile.safeParse(list);
  if (!result.success) throw new OwnModelsFault(sentenceOf(result.error.issues[0], list));
  const seen = new Set<string>();
  return result.data.map((given, at) => {
    const where = placeOf(at, given.id);
    if (seen.has(given.id)) throw new OwnModelsFault(`${where} is there twice.`);
    seen.add(given.id);
    return resolved(given, where, keyNamed, findPackage);
  });
}

function resolved(given: Given, where: string, keyNamed: KeyNamed, findPackage: FindPackage): OwnModel {
  const known = knownModels.find((model) => model.id === given.id);
  const like = given.like === undefined ? undefined : knownModels.find((model) => model.id === given.like);
  if (given.like !== undefined && !like) {
    throw new OwnModelsFault(`${where}, field like: no known model is called ${given.like}.`);
  }
  const provider = given.provider ?? (given.package === undefined ? known?.provider : 'ai-sdk');
  if (provider === undefined) {
    throw new OwnModelsFault(
      `${where}, field provider: must be one of ${providers.join(', ')}, for it is no known model.`,
    );
  }
  if (known && provider !== known.provider && given.base_url === undefined) {
    throw new OwnModelsFault(`${where}, field provider: ${given.id} is a model of ${known.provider}.`);
  }
  for (const field of ['package', 'factory', 'options'] as const) {
    if (given[field] !== undefined && provider !== 'ai-sdk')
      throw new OwnModelsFault(`${where}, field ${field}: is for the provider ai-sdk alone.`);
  }
  if (given.base_url !== undefined && provider !== 'compatible' && provider !== 'ai-sdk') {
    throw new OwnModelsFault(`${where}, field base_url: is for the providers compatible and ai-sdk alone.`);
  }
  if (given.api_key_env !== undefined && given.base_url === undefined && provider !== 'ai-sdk') {
    throw new OwnModelsFault(`${where}, field api_key_env: belongs to a base_url.`);
  }
  const apiKey = keyFor(given.api_key_env, keyNamed, where);
  const baseUrl = given.base_url ?? null;
  return {
    ...factsOf(given, known, like),
    id: given.id,
    provider,
    name: given.name ?? known?.name ?? given.id,
    model: given.model ?? wireNameOf(given.id),
    ...(given.max_output_tokens !== undefined && { longestAnswer: given.max_output_tokens }),
    endpoint: baseUrl === null || provider === 'ai-sdk' ? null : { baseUrl, apiKey },
    ...(provider === 'ai-sdk' && { packaged: { package: packageOf(given, where, findPackage), apiKey, baseUrl } }),
  };
}

/** Found at the start, so that a missing package is reported there. It is loaded by the first call. */
function packageOf(given: Given, where: string, findPackage: FindPackage): ProviderPackage {
  const { package: name, factory = null, options = {} } = given;
  if (name === undefined) throw new OwnModelsFault(`${where}, field package: must name an npm package.`);
  const url = findPackage(name);
  if (url === null) {
    throw new OwnModelsFault(
      `${where}, field package: ${name} is not installed. Run \`npm install ${name}\` in the folder where the server runs.`,
    );
  }
  return { name, url, factory, options };
}

/** The retirement date is not copied: a model that only resembles another may live longer elsewhere. */
function factsOf(given: Given, known: Entry | undefined, like: Entry | undefined): Facts {
  const { retires_on: _retires, replacement: _replacement, ...likely } = like ?? ({} as Partial<Entry>);
  const { price_changes, ...base } = { ...likely, ...known };
  // A price set here replaces the announced changes too.
  const all: Facts = { ...base, ...(price_changes && !given.price && { price_changes }), ...given };
  return Object.fromEntries(facts.filter((fact) => fact in all).map((fact) => [fact, all[fact]]));
}

function keyFor(name: string | undefined, keyNamed: KeyNamed, where: string) {
  if (name === undefined) return null;
  const key = keyNamed(name);
  if (!key) throw new OwnModelsFault(`${where}, field api_key_env: the environment variable ${name} is not set.`);
  return () => key;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function sentenceOf(issue: z.core.$ZodIssue | undefined, list: unknown): string {
  const [at, ...path] = issue?.path ?? [];
  if (typeof at !== 'number') return 'It must be a list of models, each with an id.';
  const entry = (list as unknown[])[at];
  const field = path.join('.');
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys.join(', ') : null;
  const named = unknown ?? field;
  const where = placeOf(at, isRecord(entry) && typeof entry.id === 'string' ? entry.id : null);
  const what = unknown === null ? issue?.message : 'is no field of a model';
  return named === '' ? `${where}: must be a model with an id.` : `${where}, field ${named}: ${what}.`;
}

const placeOf = (at: number, id: string | null) => `Entry ${at + 1}${id === null ? '' : ` (${id})`}`;
