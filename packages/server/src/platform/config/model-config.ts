import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { type OwnModel, OwnModelsFault, ownModels } from '@vestra/models/catalogue/own-models';
import type { EmbeddingSettings } from '@vestra/models/embeddings/embedding-vendor';
import type { Azure, Bedrock, Clouds, Vertex } from '@vestra/models/vendors/clouds/clouds';
import { z } from 'zod';
import { StartFailure } from '../db/start-failure.ts';

type Settings = Readonly<
  Partial<
    Record<
      | 'VESTRA_BEDROCK_REGION'
      | 'VESTRA_BEDROCK_URL'
      | 'AWS_BEARER_TOKEN_BEDROCK'
      | 'AWS_ACCESS_KEY_ID'
      | 'AWS_SECRET_ACCESS_KEY'
      | 'AWS_SESSION_TOKEN'
      | 'AZURE_OPENAI_ENDPOINT'
      | 'AZURE_OPENAI_API_KEY'
      | 'VESTRA_VERTEX_LOCATION'
      | 'VESTRA_VERTEX_URL'
      | 'GOOGLE_APPLICATION_CREDENTIALS',
      string
    >
  >
>;

/**
 * The clouds whose models may be used. An environment often has cloud keys for other reasons, so a cloud is used only
 * if its region, address or location is set.
 */
export const readClouds = (settings: Settings): Clouds => ({
  bedrock: bedrockOf(settings),
  azure: azureOf(settings),
  vertex: vertexOf(settings),
});

function bedrockOf(settings: Settings): Bedrock | null {
  const { VESTRA_BEDROCK_REGION: region, AWS_BEARER_TOKEN_BEDROCK: bearer } = settings;
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: session } = settings;
  if (region === undefined) return null;
  const at = { region, baseUrl: settings.VESTRA_BEDROCK_URL ?? null };
  if (bearer !== undefined) return { ...at, access: { bearer: () => bearer } };
  if (id === undefined || secret === undefined) {
    throw new StartFailure(
      'VESTRA_BEDROCK_REGION is set: set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, too.',
    );
  }
  const sessionToken = session === undefined ? null : () => session;
  return { ...at, access: { keys: { accessKeyId: id, secretAccessKey: () => secret, sessionToken } } };
}

function azureOf({ AZURE_OPENAI_ENDPOINT: endpoint, AZURE_OPENAI_API_KEY: key }: Settings): Azure | null {
  if (endpoint === undefined) return null;
  if (key === undefined) throw new StartFailure('AZURE_OPENAI_ENDPOINT is set: set AZURE_OPENAI_API_KEY too.');
  return { endpoint, apiKey: () => key };
}

const serviceAccount = z.object({
  client_email: z.string().min(1),
  private_key: z.string().refine(isPrivateKey),
  project_id: z.string().regex(/^[a-z0-9:.-]{1,100}$/),
  token_uri: z.url({ protocol: /^https?$/ }),
});

function vertexOf(settings: Settings): Vertex | null {
  const { VESTRA_VERTEX_LOCATION: location, GOOGLE_APPLICATION_CREDENTIALS: file } = settings;
  if (location === undefined) return null;
  if (file === undefined) {
    throw new StartFailure('VESTRA_VERTEX_LOCATION is set: set GOOGLE_APPLICATION_CREDENTIALS too.');
  }
  const { client_email, private_key, project_id, token_uri } = readAccount(file);
  const account = {
    clientEmail: client_email,
    privateKey: () => private_key,
    projectId: project_id,
    tokenUrl: token_uri,
  };
  return { location, baseUrl: settings.VESTRA_VERTEX_URL ?? null, account };
}

/** Error messages never repeat the content of the file, because it is a key. */
function readAccount(file: string) {
  const read = serviceAccount.safeParse(parsed(file));
  if (read.success) return read.data;
  const [field] = read.error.issues[0]?.path ?? [];
  throw new StartFailure(
    `GOOGLE_APPLICATION_CREDENTIALS (${file}) is not the key of a service account: ${field === undefined ? 'it is no JSON object' : `its ${String(field)} is missing or wrong`}.`,
  );
}

function parsed(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    const { code } = error as NodeJS.ErrnoException;
    throw new StartFailure(`GOOGLE_APPLICATION_CREDENTIALS (${file}) cannot be read: ${code}.`);
  }
}

function isPrivateKey(text: string): boolean {
  try {
    return createPrivateKey(text).type === 'private';
  } catch {
    return false;
  }
}

type Provider = EmbeddingSettings['provider'];
type Given = { provider: 'auto' | 'offline' | Provider; model: string | undefined; dimensions: number | undefined };
type Endpoint = { apiKey: (() => string) | null; baseUrl: string | null };

/**
 * Fewer dimensions than these models offer. According to the vendors that saves two thirds of the memory or more, and
 * costs about one percent of quality.
 */
const defaults: Record<Provider, { model: string; dimensions: number } | null> = {
  openai: { model: 'text-embedding-3-small', dimensions: 512 },
  google: { model: 'gemini-embedding-001', dimensions: 768 },
  compatible: null,
};
const requiredSetting: Record<Provider, string> = {
  openai: 'OPENAI_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
  compatible: 'OPENAI_COMPATIBLE_BASE_URL',
};

/**
 * The provider of embeddings; null for the offline encoder. `auto` takes the first provider with a key. Everything that is
 * embedded is sent to it, so the start prints which one it is.
 */
export function embeddingsOf(
  { provider: setting, model, dimensions }: Given,
  endpoints: Record<Provider, Endpoint | null>,
): EmbeddingSettings | null {
  const provider = setting === 'auto' ? configured(endpoints, { model, dimensions }) : setting;
  if (provider === 'offline') return null;
  const endpoint = endpoints[provider];
  if (!endpoint)
    throw new StartFailure(`VESTRA_EMBEDDINGS is ${provider}, and ${requiredSetting[provider]} is not set.`);
  const chosen = {
    model: model ?? defaults[provider]?.model,
    dimensions: dimensions ?? defaults[provider]?.dimensions,
  };
  if (chosen.model === undefined || chosen.dimensions === undefined) {
    const both = 'VESTRA_EMBEDDINGS_MODEL and VESTRA_EMBEDDINGS_DIMENSIONS';
    throw new StartFailure(
      `VESTRA_EMBEDDINGS is ${provider}: name its model and the size of its vectors with ${both}.`,
    );
  }
  const { apiKey, baseUrl } = endpoint;
  return { provider, apiKey, baseUrl, model: chosen.model, dimensions: chosen.dimensions };
}

/** A compatible endpoint counts only with a model and size, because nobody can know which it has. */
function configured(
  endpoints: Record<Provider, Endpoint | null>,
  { model, dimensions }: Pick<Given, 'model' | 'dimensions'>,
): 'offline' | Provider {
  const isComplete = model !== undefined && dimensions !== undefined;
  const found = (['openai', 'google', 'compatible'] as const).filter(
    (provider) => endpoints[provider] !== null && (provider !== 'compatible' || isComplete),
  );
  if (model !== undefined && found.length > 1) {
    throw new StartFailure(
      `VESTRA_EMBEDDINGS_MODEL is set, and ${found.join(' and ')} are configured: name the one that has the model with VESTRA_EMBEDDINGS.`,
    );
  }
  return found[0] ?? 'offline';
}

/** Reads the operator's models file (JSON or YAML). An invalid file stops the start. */
export function readModelsFile(file: string, keyNamed: (variable: string) => string | undefined): OwnModel[] {
  const named = `VESTRA_MODELS_FILE (${file})`;
  try {
    return ownModels(readYaml(readFileSync(file, 'utf8')), keyNamed);
  } catch (error) {
    if (error instanceof StartFailure) throw error;
    if (error instanceof OwnModelsFault) throw new StartFailure(`${named} is not valid. ${error.message}`);
    const { code } = error as NodeJS.ErrnoException;
    const isMissing = code === 'ENOENT' || code === 'EACCES' || code === 'EISDIR';
    throw new StartFailure(`${named} cannot be read: ${isMissing ? code : 'it is neither JSON nor YAML'}.`);
  }
}

/** Loads YAML with `require`, because settings are read synchronously and most starts need no YAML. */
function readYaml(text: string): unknown {
  const library = fileURLToPath(new URL('./yaml.ts', import.meta.url));
  const { parse }: typeof import('yaml') = createRequire(import.meta.url)(library);
  return parse(text, { maxAliasCount: 0 });
}
