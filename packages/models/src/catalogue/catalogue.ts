import { flatPrice, type PlacedModel, type Provider, providers, unknownPrice } from '../prices.ts';
import type { ModelSettings } from '../settings.ts';
import { type Entry, priceOn } from './entry.ts';
import { knownModels, wireNameOf } from './known-models.ts';
import type { OwnModel } from './own-models.ts';
import { retirementOf } from './retirement.ts';
import { isListed, type ListedModel, mayReason } from './vendor-lists.ts';

export type CatalogueModel = PlacedModel & {
  default: boolean;
  available: boolean;
  /** The reason and the remedy; null if the model is available. */
  unavailable_reason: string | null;
  /**
   * The server does not run the model in this mode. A model that may only be retired by its vendor is still requested.
   */
  isRefused: boolean;
  /** The announced retirement date is past. */
  isRetired: boolean;
};

export type Catalogue = {
  /** Null if the operator's default names a model that no configured provider has. */
  readonly defaultModel: string | null;
  list: (mode: 'test' | 'live') => readonly CatalogueModel[];
  find: (mode: 'test' | 'live', id: string) => CatalogueModel | undefined;
  has: (id: string) => boolean;
  /** Adopts a vendor's list. */
  learn: (provider: Provider, listed: readonly ListedModel[]) => void;
};

/**
 * Combines the built-in models of each configured provider, the operator's file and the vendors' lists. `offline`
 * always exists, but serves live traffic only if the operator made it the default: a stand-in must never answer real
 * users by accident.
 */
export function createCatalogue(settings: ModelSettings, now: () => Date = () => new Date()): Catalogue {
  const vendors = new Map<Provider, readonly ListedModel[]>();
  let shown: { today: string; test: CatalogueModel[]; live: CatalogueModel[]; defaultModel: string | null } | null =
    null;

  /** Rebuilt each day, because models retire and prices change, and after each vendor list. */
  function current() {
    const today = now().toISOString().slice(0, 10);
    if (shown?.today === today) return shown;
    const models = [...modelsOf(settings, vendors, today), offline];
    const defaultModel = defaultOf(models, settings, today);
    const inMode = (mode: 'test' | 'live') =>
      models.map((model) => shownIn(mode, model, { settings, vendors, today, defaultModel }));
    shown = { today, test: inMode('test'), live: inMode('live'), defaultModel };
    return shown;
  }

  return {
    get defaultModel() {
      return current().defaultModel;
    },
    list: (mode) => current()[mode],
    find: (mode, id) => current()[mode].find((model) => model.id === id),
    has: (id) => id === 'default' || current().test.some((model) => model.id === id),
    learn(provider, listed) {
      vendors.set(provider, listed);
      shown = null;
    },
  };
}

/** The default answer length: money is held for all of it while a call runs. */
const usualAnswerTokens = 32_768;

const offline: PlacedModel = {
  id: 'offline',
  provider: 'offline',
  name: 'Offline stand-in',
  context_tokens: 32_000,
  input_tokens: null,
  max_output_tokens: 4_096,
  price: flatPrice(0.1, 0.4),
  priced: true,
  takes: ['text'],
  reasons: false,
  forces_tools: true,
  retires_on: null,
  replacement: null,
  model: 'offline',
  endpoint: null,
};

function modelsOf(settings: ModelSettings, vendors: Vendors, today: string): PlacedModel[] {
  const own = new Map(settings.own.map((model) => [model.id, model]));
  const isConfigured = (provider: Provider) =>
    provider !== 'offline' && provider !== 'ai-sdk' && endpointOf(settings, provider) !== null;
  const ofFile = settings.own.map((model) => placed(model, today));
  const vendorsOfTheirOwn = providers.filter((provider) => provider !== 'compatible' && isConfigured(provider));
  const listed = vendorsOfTheirOwn.flatMap((provider) => {
    const known = knownModels.filter((model) => model.provider === provider && !own.has(model.id));
    const ids = new Set([...known.map(({ id }) => id), ...own.keys()]);
    const further = (vendors.get(provider) ?? []).filter(({ id }) => !ids.has(id));
    return [
      ...known.map((entry) =>
        placed(withListedEnd({ ...entry, model: wireNameOf(entry.id), endpoint: null }, vendors), today),
      ),
      ...further.map((model) => unknown(provider, model)),
    ];
  });
  const open = ofFile.filter(
    ({ provider, endpoint, packaged }) => endpoint !== null || packaged !== undefined || isConfigured(provider),
  );
  return inOrder([...open, ...listed, ...compatibleModels(settings, vendors, own)]);
}

/** Built-in models come first for each provider, so that no other becomes the default by accident. */
function inOrder(models: readonly PlacedModel[]): PlacedModel[] {
  const places = new Map(knownModels.map(({ id }, at) => [id, at]));
  const place = ({ id, provider }: PlacedModel) =>
    providers.indexOf(provider) * 10_000 + (places.get(id) ?? knownModels.length);
  return models.toSorted((one, other) => place(one) - place(other));
}

/** The endpoint of a provider; null if the operator has not configured it. */
function endpointOf(settings: ModelSettings, provider: Exclude<Provider, 'offline' | 'ai-sdk'>): unknown {
  if (provider === 'bedrock' || provider === 'vertex' || provider === 'azure')
    return settings.clouds?.[provider] ?? null;
  return settings[provider];
}

type Vendors = ReadonlyMap<Provider, readonly ListedModel[]>;

/** The facts about a model from all sources. */
type Told = Pick<OwnModel, 'id' | 'name' | 'model' | 'endpoint' | 'packaged'> & { provider: Provider } & Partial<
    Pick<
      Entry,
      | 'price'
      | 'price_changes'
      | 'context_tokens'
      | 'input_tokens'
      | 'max_output_tokens'
      | 'takes'
      | 'reasons'
      | 'forces_tools'
    >
  > &
  Partial<Pick<Entry, 'retires_on' | 'replacement'>> & { longestAnswer?: number };

function placed(told: Told, today: string): PlacedModel {
  return {
    id: told.id,
    provider: told.provider,
    name: told.name,
    model: told.model,
    endpoint: told.endpoint,
    ...(told.packaged && { packaged: told.packaged }),
    context_tokens: told.context_tokens ?? 128_000,
    input_tokens: told.input_tokens ?? null,
    max_output_tokens: told.longestAnswer ?? Math.min(told.max_output_tokens ?? 8_192, usualAnswerTokens),
    price: told.price ? priceOn({ price: told.price, price_changes: told.price_changes }, today) : unknownPrice,
    priced: told.price !== undefined,
    takes: told.takes ?? ['text'],
    reasons: told.reasons ?? (isOpenai(told.provider) && mayReason(told.model)),
    forces_tools: told.forces_tools ?? true,
    retires_on: told.retires_on ?? null,
    replacement: told.replacement ?? null,
  };
}

/** Asking such a model for its reasoning costs at most one rejected request. Not asking loses all of it. */
const isOpenai = (provider: Provider) => provider === 'openai' || provider === 'azure';

/** A retirement date from the vendor overrides the built-in one. */
function withListedEnd(model: Told, vendors: Vendors): Told {
  const said = vendors.get(model.provider)?.find(({ id }) => id === model.id)?.retires_on;
  return said ? { ...model, retires_on: said } : model;
}

function unknown(provider: Provider, { id, ...said }: ListedModel): PlacedModel {
  const told = { id, model: id, provider, endpoint: null, name: said.name ?? id };
  // A model newer than the built-in list is assumed to be like the newest of its vendor.
  const forces_tools = provider !== 'anthropic';
  const facts = { takes: ['text', 'image', 'pdf'] as Entry['takes'], reasons: true, forces_tools, ...said };
  return placed({ ...facts, ...told, max_output_tokens: said.max_output_tokens ?? usualAnswerTokens }, '');
}

/** If the operator names the models of an endpoint, only those exist. */
function compatibleModels(settings: ModelSettings, vendors: Vendors, own: ReadonlyMap<string, unknown>): PlacedModel[] {
  const { compatible } = settings;
  if (!compatible) return [];
  const all = vendors.get('compatible') ?? [];
  const model = (name: string): PlacedModel => {
    const said = compatible.contextTokens ?? all.find(({ id }) => id === name)?.context_tokens;
    const told = { id: `compatible/${name}`, provider: 'compatible' as const, name, model: name, endpoint: null };
    const window = said === undefined ? {} : { context_tokens: said, max_output_tokens: answerWithin(said) };
    return {
      ...placed({ ...told, ...window }, ''),
      ...(compatible.maxOutputTokens !== null && { max_output_tokens: compatible.maxOutputTokens }),
      takes: ['text', ...(compatible.takes ?? (readsImages.test(name) ? (['image'] as const) : []))],
      price: compatible.price ?? unknownPrice,
      // The operator chose the endpoint and its documented price. The server logs that price at startup.
      priced: true,
    };
  };
  const listed = all.map(({ id }) => id);
  const names = compatible.models.length > 0 ? compatible.models : listed;
  return names.map(model).filter(({ id }) => !own.has(id));
}

/** Prompt and answer share a small window, and vLLM rejects a request whose answer might not fit. */
const answerWithin = (contextTokens: number) => Math.max(256, Math.min(8_192, Math.floor(contextTokens / 4)));

/**
 * A compatible endpoint does not report what its models read, and a text-only model rejects the whole request. Unless
 * the operator configures it, only models with a matching name receive images.
 */
const readsImages =
  /vision|llava|moondream|pixtral|internvl|minicpm-v|gemma-?3|llama-?4|gpt-(4o|4\.1|5|6)|claude|gemini|(^|[\W_\d])(vl|vlm)([\W_]|$)/i;

/** Resolves `default`: the operator's choice, otherwise the first priced model without a retirement date. */
function defaultOf(
  models: readonly PlacedModel[],
  { defaultModel: named, own }: ModelSettings,
  today: string,
): string | null {
  const lasts = (model: PlacedModel) => !retirementOf(model, today).isPast;
  const found = models.find(({ id }) => id === named);
  if (named !== null && !found) return null;
  if (found && lasts(found)) return found.id;
  const replacement = models.find(({ id }) => id === found?.replacement);
  if (replacement && lasts(replacement)) return replacement.id;
  const ofProvider = models.filter(({ provider }) => found === undefined || provider === found.provider);
  const mayBeDefault = (model: PlacedModel) => lasts(model) && model.priced && !isGuessed(model, own);
  return (ofProvider.find(mayBeDefault) ?? offline).id;
}

/** Azure's names are those of the operator's deployments, so a built-in name may not exist there. */
const isGuessed = ({ id, provider }: PlacedModel, own: ModelSettings['own']) =>
  provider === 'azure' && !own.some((model) => model.id === id);

function shownIn(
  mode: 'test' | 'live',
  model: PlacedModel,
  of: { settings: ModelSettings; vendors: Vendors; today: string; defaultModel: string | null },
): CatalogueModel {
  const refusal = refusalOf(mode, model, of.settings);
  const unavailable_reason = refusal ?? endedBecause(model, of);
  return {
    ...model,
    default: model.id === of.defaultModel,
    available: unavailable_reason === null,
    unavailable_reason,
    isRefused: refusal !== null,
    isRetired: retirementOf(model, of.today).isPast,
  };
}

function refusalOf(
  mode: 'test' | 'live',
  { id, provider, priced }: PlacedModel,
  settings: ModelSettings,
): string | null {
  if (mode === 'test') return null;
  if (provider === 'offline' && settings.defaultModel !== 'offline') {
    return `The model \`${id}\` is not open to live mode. Configure a provider, or name it in VESTRA_DEFAULT_MODEL.`;
  }
  if (priced) return null;
  return `The model \`${id}\` has no price, and live mode runs nothing that cannot be billed: set its \`price\` in the file that VESTRA_MODELS_FILE names.`;
}

/** Returns why the vendor no longer has the model, as far as known. */
function endedBecause(model: PlacedModel, { vendors, today }: { vendors: Vendors; today: string }): string | null {
  const { isPast, sentence } = retirementOf(model, today);
  if (isPast) return sentence;
  const listed = vendors.get(model.provider);
  const isKnown = knownModels.some(({ id }) => id === model.id) && model.endpoint === null;
  if (!isKnown || listed === undefined || isListed(model.id, listed)) return null;
  const instead = model.replacement === null ? '' : ` Use \`${model.replacement}\`.`;
  return `Its provider does not list the model \`${model.id}\` for this server's key.${instead}`;
}
