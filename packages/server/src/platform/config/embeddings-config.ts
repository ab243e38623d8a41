import type { EmbeddingSettings } from '@vestra/models/embeddings/embedding-vendor';
import { StartFailure } from '../db/start-failure.ts';

type Provider = EmbeddingSettings['provider'];
type Given = { provider: 'offline' | Provider; model: string | undefined; dimensions: number | undefined };
type Endpoint = { apiKey: (() => string) | null; baseUrl: string | null };

/** Fewer numbers than these models can give: a third or a quarter of the memory for a hundredth of the quality, say their makers. */
const usual: Record<Provider, { model: string; dimensions: number } | null> = {
  openai: { model: 'text-embedding-3-small', dimensions: 512 },
  google: { model: 'gemini-embedding-001', dimensions: 768 },
  compatible: null,
};
const needed: Record<Provider, string> = {
  openai: 'OPENAI_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
  compatible: 'OPENAI_COMPATIBLE_BASE_URL',
};

/** Which provider embeds texts; null for the offline encoder. Never chosen for the operator: it costs and sends texts out. */
export function embeddingsOf(
  { provider, model, dimensions }: Given,
  endpoints: Record<Provider, Endpoint | null>,
): EmbeddingSettings | null {
  if (provider === 'offline') return null;
  const endpoint = endpoints[provider];
  if (!endpoint) throw new StartFailure(`VESTRA_EMBEDDINGS is ${provider}, and ${needed[provider]} is not set.`);
  const chosen = { model: model ?? usual[provider]?.model, dimensions: dimensions ?? usual[provider]?.dimensions };
  if (chosen.model === undefined || chosen.dimensions === undefined) {
    const both = 'VESTRA_EMBEDDINGS_MODEL and VESTRA_EMBEDDINGS_DIMENSIONS';
    throw new StartFailure(
      `VESTRA_EMBEDDINGS is ${provider}: name its model and the size of its vectors with ${both}.`,
    );
  }
  const { apiKey, baseUrl } = endpoint;
  return { provider, apiKey, baseUrl, model: chosen.model, dimensions: chosen.dimensions };
}
