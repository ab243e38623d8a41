import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
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
 * The clouds whose models may be used. Keys of a cloud often lie in an environment for other reasons: a cloud is asked only
 * where its region, address or location is set.
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

/** What stands in the file is never repeated: it is a key. */
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
