import { anthropicWire, bindsThinking, thinkingBeta } from '../wires/anthropic.ts';
import { vertexGoogleWire } from '../wires/google.ts';
import type { Wire } from '../wires/wire.ts';
import type { AwsKeys } from './aws-signature.ts';
import { signedByAws } from './aws-signature.ts';
import { createGoogleAccess, type ServiceAccount } from './google-access.ts';

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
