import { nearest } from '@vestra/contract/nearest';
import type { Catalogue } from '@vestra/models/catalogue/catalogue';
import { knownModels } from '@vestra/models/catalogue/known-models';

const keySettings = {
  anthropic: 'ANTHROPIC_API_KEY',
  openai: 'OPENAI_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
  bedrock: 'VESTRA_BEDROCK_REGION and its keys',
  vertex: 'VESTRA_VERTEX_LOCATION and GOOGLE_APPLICATION_CREDENTIALS',
  azure: 'AZURE_OPENAI_ENDPOINT and AZURE_OPENAI_API_KEY',
  compatible: 'OPENAI_COMPATIBLE_BASE_URL',
  offline: '',
} as const;

/** Says that no configured provider has this model, with the next step. */
export function noSuchModel(catalogue: Pick<Catalogue, 'list'>, id: string): string {
  const known = knownModels.find((model) => model.id === id);
  if (known)
    return `${id} is a model of ${known.provider}, which is not configured: set ${keySettings[known.provider]}.`;
  const offered = catalogue.list('test').flatMap((model) => (model.id === 'offline' ? [] : [model.id]));
  return `No configured provider has the model ${id}. ${remedyFor(id, offered)}`;
}

function remedyFor(id: string, offered: readonly string[]): string {
  const [meant] = nearest(id, offered);
  if (meant) return `Did you mean ${meant}?`;
  if (offered.length > 0) return '`vestra models` lists those there are.';
  return 'None is configured: give the server a key, such as ANTHROPIC_API_KEY, or write `default`.';
}
