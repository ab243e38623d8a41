import { createSign } from 'node:crypto';
import { ConnectionLost, VendorError } from '../fault.ts';
import { anthropicWire, bindsThinking, thinkingBeta } from '../wires/anthropic.ts';
import { vertexGoogleWire } from '../wires/google.ts';
import { countOf, recordOf, textOf } from '../wires/json.ts';
import type { Wire } from '../wires/wire.ts';
import { type AwsKeys, signedByAws } from './aws-signature.ts';

/** Amazon Bedrock, with its own key or with account keys that sign each call. */
export type Bedrock = { region: string; baseUrl: string | null; access: { bearer: () => string } | { keys: AwsKeys } };

/** Azure OpenAI: the address of the resource, without a path. */
export type Azure = { endpoint: string; apiKey: () => string };

/** Vertex AI, called with the key of a service account. */
export type Vertex = { location: string; baseUrl: string | null; account: ServiceAccount };

export type Clouds = { bedrock: Bedrock | null; azure: Azure | null; vertex: Vertex | null };

type Headers = Record<string, string>;
type Sent = { url: string; body: string };

const trimmed = (address: string) => address.replace(/\/+$/, '');

/** Anthropic's format with the model in the address and the version in the body instead of a header. */
const anthropicVersion = (version: string, { hasStream }: { hasStream: boolean }): Wire => ({
  ...anthropicWire,
  body(request) {
    const { model: _, stream, ...body } = anthropicWire.body(request) as Record<string, unknown>;
    const beta = bindsThinking(request.modelId) && { anthropic_beta: [thinkingBeta] };
    return { anthropic_version: version, ...beta, ...body, ...(hasStream && { stream }) };
  },
});

const bedrockWire = anthropicVersion('bedrock-2023-05-31', { hasStream: false });
const vertexAnthropicWire = anthropicVersion('vertex-2023-10-16', { hasStream: true });

export function atBedrock({ region, baseUrl, access }: Bedrock, modelId: string) {
  const base = trimmed(baseUrl ?? `https://bedrock-runtime.${region}.amazonaws.com`);
  const sign = (sent: Sent): Headers =>
    'bearer' in access
      ? { authorization: `Bearer ${access.bearer()}` }
      : signedByAws({ ...sent, region, service: 'bedrock', keys: access.keys, now: new Date() });
  return {
    title: 'Amazon Bedrock',
    keySetting: 'bearer' in access ? 'AWS_BEARER_TOKEN_BEDROCK' : 'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
    addressSetting: 'VESTRA_BEDROCK_REGION',
    wire: bedrockWire,
    framing: 'aws' as const,
    url: `${base}/model/${encodeURIComponent(modelId)}/invoke-with-response-stream`,
    headers: (sent: Sent): Headers => ({ ...sign(sent), accept: 'application/vnd.amazon.eventstream' }),
  };
}

export const atAzure = ({ endpoint, apiKey }: Azure) => ({
  title: 'Azure OpenAI',
  keySetting: 'AZURE_OPENAI_API_KEY',
  addressSetting: 'AZURE_OPENAI_ENDPOINT',
  url: `${trimmed(endpoint)}/openai/v1/responses`,
  headers: (): Headers => ({ 'api-key': apiKey() }),
});

/** One per key, so that all its models share a token. */
const accesses = new WeakMap<ServiceAccount, () => Promise<string>>();

function accessOf(account: ServiceAccount): () => Promise<string> {
  const known = accesses.get(account) ?? createGoogleAccess(account);
  accesses.set(account, known);
  return known;
}

export function atVertex({ location, baseUrl, account }: Vertex, modelId: string) {
  const isClaude = modelId.startsWith('claude');
  const host = location === 'global' ? 'aiplatform.googleapis.com' : `${location}-aiplatform.googleapis.com`;
  const path = `v1/projects/${account.projectId}/locations/${location}/publishers/${isClaude ? 'anthropic' : 'google'}`;
  const call = isClaude ? 'streamRawPredict' : 'streamGenerateContent?alt=sse';
  const access = accessOf(account);
  return {
    title: 'Vertex AI',
    keySetting: 'GOOGLE_APPLICATION_CREDENTIALS',
    addressSetting: 'VESTRA_VERTEX_LOCATION',
    wire: isClaude ? vertexAnthropicWire : vertexGoogleWire,
    url: `${trimmed(baseUrl ?? `https://${host}`)}/${path}/models/${encodeURIComponent(modelId)}:${call}`,
    headers: async (): Promise<Headers> => ({ authorization: `Bearer ${await access()}` }),
  };
}

/** The key of a service account, as in Google's key file. */
type ServiceAccount = { clientEmail: string; privateKey: () => string; projectId: string; tokenUrl: string };

const scope = 'https://www.googleapis.com/auth/cloud-platform';
const patienceMs = 15_000;
/** A token that expires during a call is still valid for it, but one that expired before is not. */
const marginMs = 60_000;

/** Returns an access token, shared by all callers until shortly before it expires. */
function createGoogleAccess(account: ServiceAccount, now: () => number = Date.now): () => Promise<string> {
  let known: { token: string; until: number } | null = null;
  let asking: Promise<string> | null = null;
  const ask = async () => {
    const { token, seconds } = await newToken(account, now());
    known = { token, until: now() + seconds * 1000 - marginMs };
    return token;
  };
  return () => {
    if (known && now() < known.until) return Promise.resolve(known.token);
    asking ??= ask().finally(() => {
      asking = null;
    });
    return asking;
  };
}

/** Google's response is never repeated, because it may quote the request. */
async function newToken({ clientEmail, privateKey, tokenUrl }: ServiceAccount, now: number) {
  const issued = Math.floor(now / 1000);
  const claims = { iss: clientEmail, scope, aud: tokenUrl, iat: issued, exp: issued + 3600 };
  const text = [{ alg: 'RS256', typ: 'JWT' }, claims].map(base64url).join('.');
  const assertion = `${text}.${createSign('RSA-SHA256').update(text).sign(privateKey(), 'base64url')}`;
  const grant_type = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
  const response = await fetch(tokenUrl, {
    method: 'POST',
    body: new URLSearchParams({ grant_type, assertion }),
    redirect: 'error',
    signal: AbortSignal.timeout(patienceMs),
  }).catch(() => {
    throw new ConnectionLost();
  });
  const answer = recordOf(await response.json().catch(() => null));
  const token = textOf(answer.access_token);
  // Every fault of a key is reported as a rejected key.
  if (!response.ok || token === '') throw new VendorError(response.status >= 500 ? 503 : 401, '', [], null);
  return { token, seconds: countOf(answer.expires_in) || 3600 };
}

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
