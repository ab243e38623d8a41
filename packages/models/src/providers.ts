import { compatibleOutputTokens, compatiblePrice, type PricedModel, type Provider, pricedModels } from './prices.ts';
import type { ModelSettings } from './settings.ts';

type CatalogueModel = PricedModel & { default: boolean; available: boolean };

export type Catalogue = {
  /** Null where the operator's default names a model that no configured provider has. */
  defaultModel: string | null;
  list: (mode: 'test' | 'live') => CatalogueModel[];
  has: (id: string) => boolean;
};

/**
 * `offline` always exists but answers live traffic only where the operator named it as the default:
 * a stand-in must never speak to real users by accident.
 */
export function createCatalogue(settings: ModelSettings): Catalogue {
  const models = [...modelsOf(settings), ...pricedModels.filter(({ provider }) => provider === 'offline')];
  const defaultModel = settings.defaultModel ?? (models[0] as PricedModel).id;
  const isKnown = models.some(({ id }) => id === defaultModel);
  const isOpenTo = (mode: 'test' | 'live', { provider }: PricedModel) =>
    provider !== 'offline' || mode === 'test' || settings.defaultModel === 'offline';
  return {
    defaultModel: isKnown ? defaultModel : null,
    list: (mode) =>
      models.map((model) => ({ ...model, default: model.id === defaultModel, available: isOpenTo(mode, model) })),
    has: (id) => id === 'default' || models.some((model) => model.id === id),
  };
}

function modelsOf(settings: ModelSettings): PricedModel[] {
  const configured: Provider[] = [];
  if (settings.anthropic) configured.push('anthropic');
  if (settings.openai) configured.push('openai');
  if (settings.google) configured.push('google');
  const listed = configured.flatMap((provider) => pricedModels.filter((model) => model.provider === provider));
  const { compatible } = settings;
  const own = (compatible?.models ?? []).map((name) => ({
    id: `compatible/${name}`,
    provider: 'compatible' as const,
    name,
    context_tokens: 128_000,
    max_output_tokens: compatible?.maxOutputTokens ?? compatibleOutputTokens,
    price: compatible?.price ?? compatiblePrice,
  }));
  return [...listed, ...own];
}
