import { type Model, type ModelEvent, ModelFailure, type ModelRequest } from '@vestra/agent/model';
import { type Catalogue, createCatalogue } from './catalogue/catalogue.ts';
import { askVendors } from './catalogue/vendor-lists.ts';
import type { Provider } from './prices.ts';
import type { MediaKind, ModelSettings } from './settings.ts';
import { withReasoningLevel } from './vendors/reasoning-level.ts';
import { defaultTiming, type Timing } from './vendors/timing.ts';
import { openVendor } from './vendors/vendor.ts';
import { createVendorModel } from './vendors/vendor-model.ts';

export type Models = {
  catalogue: Catalogue;
  /** Throws a `ModelFailure` for an id that no configured provider has. `default` is the catalogue's default. */
  model: (id: string) => Model;
  /** Whether the model reads this kind of file directly. */
  takes: (id: string, kind: MediaKind) => boolean;
  /**
   * Asks all vendors, or only one, for their models. Never throws: on failure the catalogue stays as it is. Returns why
   * a vendor lists none, as the end of a sentence about its address.
   */
  askVendors: (signal: AbortSignal, only?: Provider) => Promise<ReadonlyMap<Provider, string>>;
};

const typeOf: Record<MediaKind, string> = { image: 'image/png', pdf: 'application/pdf' };

export function createModels(settings: ModelSettings, timing: Partial<Timing> = {}): Models {
  const catalogue = createCatalogue(settings);
  const opened = new Map<string, Model>();
  return {
    catalogue,
    takes: (id, kind) => {
      const entry = catalogue.find('test', id);
      if (!entry || entry.provider === 'offline') return false;
      return openVendor(settings, entry).reads.has(typeOf[kind]);
    },
    model: (asked) => {
      const id = asked === 'default' ? catalogue.defaultModel : asked;
      const known = opened.get(id ?? '');
      if (known) return known;
      const model = open(settings, catalogue, id, { ...defaultTiming, ...timing });
      opened.set(id as string, model);
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

function open(settings: ModelSettings, catalogue: Catalogue, id: string | null, timing: Timing): Model {
  const entry = id === null ? undefined : catalogue.find('test', id);
  if (!entry) {
    const message = id
      ? `No configured provider has the model ${id}.`
      : 'The default model is one that no configured provider has: check VESTRA_DEFAULT_MODEL.';
    throw new ModelFailure('unavailable', message);
  }
  if (entry.provider === 'offline') return { stream: streamOffline };
  return withReasoningLevel(createVendorModel({ vendor: openVendor(settings, entry), timing }));
}

/** The offline model is loaded with its first request: a server with a vendor key never needs it. */
async function* streamOffline(request: ModelRequest): AsyncGenerator<ModelEvent> {
  const { createOfflineModel } = await import('./offline/offline-model.ts');
  yield* createOfflineModel().stream(request);
}
