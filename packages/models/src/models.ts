import { createHash } from 'node:crypto';
import { type Model, type ModelEvent, ModelFailure, type ModelRequest } from '@vestra/agent/model';
import { type Catalogue, createCatalogue } from './catalogue/catalogue.ts';
import { askVendors } from './catalogue/vendor-lists.ts';
import type { PlacedModel, Provider } from './prices.ts';
import type { MediaKind, ModelSettings } from './settings.ts';
import type { LearntRule, NewAdjustment } from './vendors/learnt.ts';
import { defaultTiming, type Timing } from './vendors/timing.ts';
import type { VendorModel } from './vendors/vendor-model.ts';

export type Models = {
  catalogue: Catalogue;
  /** Throws a `ModelFailure` for an id that no configured provider has. `default` is the catalogue's default. */
  model: (id: string) => Model;
  /** Rejections of the model's vendor, and how this process changed its requests since. */
  adjustments: (id: string) => readonly LearntRule[];
  /**
   * Replaces what this process learnt by what all processes learnt: keys of rules by endpoint. Without any, requests are
   * sent as if nothing had been rejected.
   */
  restoreAdjustments: (keys: ReadonlyMap<string, readonly string[]>) => void;
  /** Identifies the model at its address. Null if no provider has it. It contains no address. */
  endpointOf: (id: string) => string | null;
  /** Whether the model reads this kind of file directly. */
  takes: (id: string, kind: MediaKind) => boolean;
  /**
   * Asks all vendors, or only one, for their models. Never throws: on failure the catalogue stays as it is. Returns why
   * a vendor lists none, as the end of a sentence about its address.
   */
  askVendors: (signal: AbortSignal, only?: Provider) => Promise<ReadonlyMap<Provider, string>>;
};

type ModelOptions = {
  /** Called once for each change of requests that a vendor required. */
  onAdjusted?: (id: string, adjustment: NewAdjustment) => void;
};

type ClientOptions = { timing: Timing; onAdjusted?: (adjustment: NewAdjustment) => void };

export function createModels(
  settings: ModelSettings,
  timing: Partial<Timing> = {},
  { onAdjusted }: ModelOptions = {},
): Models {
  const catalogue = createCatalogue(settings);
  const opened = new Map<string, Model & Partial<VendorModel>>();
  let shared: ReadonlyMap<string, readonly string[]> = new Map();
  const endpointOf = (id: string) => {
    const entry = catalogue.find('test', id);
    return entry && entry.provider !== 'offline' ? endpointDigest(settings, entry) : null;
  };
  const restore = (id: string, model: Partial<VendorModel>) => model.restore?.(shared.get(endpointOf(id) ?? '') ?? []);
  return {
    catalogue,
    adjustments: (id) => opened.get(id)?.rules?.() ?? [],
    endpointOf,
    restoreAdjustments(keys) {
      shared = keys;
      for (const [id, model] of opened) restore(id, model);
    },
    takes: (id, kind) => {
      const entry = catalogue.find('test', id);
      if (!entry || entry.provider === 'offline') return false;
      return entry.takes.includes(kind);
    },
    model: (asked) => {
      const id = asked === 'default' ? catalogue.defaultModel : asked;
      const known = opened.get(id ?? '');
      if (known) return known;
      const model: Model & Partial<VendorModel> = open(settings, catalogue, id, {
        timing: { ...defaultTiming, ...timing },
        ...(onAdjusted && { onAdjusted: (adjustment) => onAdjusted(id as string, adjustment) }),
      });
      opened.set(id as string, model);
      if (shared.size > 0) restore(id as string, model);
      return model;
    },
    async askVendors(signal, only) {
      const problems = new Map<Provider, string>();
      for (const [provider, { models, problem }] of await askVendors(settings, signal, only)) {
        if (problem === null) catalogue.learn(provider, models);
        else problems.set(provider, problem);
      }
      return problems;
    },
  };
}

function open(
  settings: ModelSettings,
  catalogue: Catalogue,
  id: string | null,
  options: ClientOptions,
): Model | VendorModel {
  const entry = id === null ? undefined : catalogue.find('test', id);
  if (!entry) {
    const message = id
      ? `No configured provider has the model ${id}.`
      : 'The default model is one that no configured provider has: check VESTRA_DEFAULT_MODEL.';
    throw new ModelFailure('unavailable', message);
  }
  if (entry.provider === 'offline') return { stream: streamOffline };
  return createVendorClient(settings, entry, options);
}

/** The clients of vendors are loaded with the first request: they are much code, and a start without traffic needs none. */
function createVendorClient(settings: ModelSettings, entry: PlacedModel, options: ClientOptions): VendorModel {
  let opened: VendorModel | null = null;
  let restored: readonly string[] = [];
  async function open(): Promise<VendorModel> {
    const [{ withReasoningLevel }, { openVendor }, { createVendorModel }] = await Promise.all([
      import('./vendors/reasoning-level.ts'),
      import('./vendors/vendor.ts'),
      import('./vendors/vendor-model.ts'),
    ]);
    if (opened) return opened;
    const vendor = openVendor(settings, entry);
    opened = withReasoningLevel(createVendorModel({ vendor, ...options }), { title: vendor.title, ...options });
    if (restored.length > 0) opened.restore(restored);
    return opened;
  }
  async function* streamFirst(request: ModelRequest): AsyncGenerator<ModelEvent> {
    yield* (await open()).stream(request);
  }
  return {
    // Not one generator for all: each layer of generators costs time for every event.
    stream: (request) => opened?.stream(request) ?? streamFirst(request),
    rules: () => opened?.rules() ?? [],
    restore(keys) {
      restored = keys;
      opened?.restore(keys);
    },
  };
}

/** Another address, region or resource is another endpoint. Prices, keys and lists of models are not part of it. */
function endpointDigest(settings: ModelSettings, { provider, model, endpoint, packaged }: PlacedModel): string {
  const { clouds } = settings;
  const place = {
    anthropic: settings.anthropic?.baseUrl,
    openai: settings.openai?.baseUrl,
    google: settings.google?.baseUrl,
    compatible: (endpoint ?? settings.compatible)?.baseUrl,
    bedrock: [clouds?.bedrock?.region, clouds?.bedrock?.baseUrl],
    vertex: [clouds?.vertex?.location, clouds?.vertex?.baseUrl],
    azure: clouds?.azure?.endpoint,
    'ai-sdk': [packaged?.package.name, packaged?.baseUrl],
    offline: null,
  }[provider];
  return createHash('sha256')
    .update(JSON.stringify([provider, model, place]))
    .digest('base64url');
}

/** The offline model is loaded with its first request: a server with a vendor key never needs it. */
async function* streamOffline(request: ModelRequest): AsyncGenerator<ModelEvent> {
  const { createOfflineModel } = await import('./offline/offline-model.ts');
  yield* createOfflineModel().stream(request);
}
