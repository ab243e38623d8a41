import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ModelSettings } from '../settings.ts';
import { createCatalogue } from './catalogue.ts';
import { catalogueFile, priceOn } from './entry.ts';
import { knownModels } from './known-models.ts';
import file from './models.json' with { type: 'json' };
import { OwnModelsFault, ownModels } from './own-models.ts';
import { retirementNotes } from './retirement.ts';

const endpoint = { apiKey: () => 'key', baseUrl: null };
const none: ModelSettings = {
  anthropic: null,
  openai: null,
  google: null,
  compatible: null,
  own: [],
  defaultModel: null,
};
const all = { ...none, anthropic: endpoint, openai: endpoint, google: endpoint };
const on = (day: string) => () => new Date(`${day}T12:00:00Z`);

describe('the built-in models [MOD-201]', () => {
  const parsed = catalogueFile.safeParse(file);

  it('match the schema, have unique ids and name a known source', () => {
    expect(parsed.error?.issues ?? []).toEqual([]);
    expect(new Set(knownModels.map(({ id }) => id)).size).toBe(knownModels.length);
    const sources = new Set(knownModels.flatMap(({ source }) => source.split(', ')));
    expect([...sources].filter((source) => !(source in file.sources))).toEqual([]);
  });

  it('are as of the day that the guide names', () => {
    const guide = readFileSync(join(import.meta.dirname, '../../../../docs/models.md'), 'utf8');
    expect(guide).toContain(`as of ${file.as_of}`);
  });

  it('name a replacement from the same provider that has no end date', () => {
    for (const { id, provider, replacement } of knownModels.filter((model) => model.replacement !== null)) {
      const next = knownModels.find((model) => model.id === replacement);
      expect([id, next?.provider, next?.retires_on]).toEqual([id, provider, null]);
    }
  });

  it('never cost less for reasoning, output or longer input', () => {
    for (const model of knownModels) {
      const { above, ...usual } = priceOn(model, file.as_of);
      expect(usual.output_per_mtok).toBeGreaterThanOrEqual(usual.input_per_mtok);
      expect(usual.cache_read_per_mtok).toBeLessThanOrEqual(usual.input_per_mtok);
      expect(usual.cache_write_long_per_mtok).toBeGreaterThanOrEqual(usual.cache_write_per_mtok);
      if (above) expect(above.input_per_mtok).toBeGreaterThan(usual.input_per_mtok);
    }
  });
});

describe('the built-in models of the clouds [MOD-741]', () => {
  const ids = (provider: string) => knownModels.filter((model) => model.provider === provider).map(({ id }) => id);

  it('contain the current models of each region of Bedrock', () => {
    const regions = ['global', 'us', 'eu', 'au', 'jp'];
    const wanted = ['haiku', 'opus'].flatMap((family) =>
      regions.map((region) => `bedrock/${region}.anthropic.claude-${family}-5-5`),
    );
    expect(ids('bedrock')).toEqual(expect.arrayContaining(wanted));
    expect(ids('bedrock')).toContain('bedrock/apac.anthropic.claude-sonnet-4-20250514-v1:0');
    expect(ids('bedrock')).toContain('bedrock/global.anthropic.claude-fable-5-2');
  });

  it('contain Gemini and Claude on Vertex AI, and the models of OpenAI on Azure', () => {
    const onVertex = ['vertex/gemini-3.8-flash', 'vertex/gemini-3.1-pro-preview', 'vertex/claude-opus-5-5'];
    expect(ids('vertex')).toEqual(expect.arrayContaining(onVertex));
    const ofOpenai = ids('openai').map((id) => `azure/${id}`);
    expect(ids('azure')).toEqual(expect.arrayContaining([...ofOpenai, 'azure/gpt-4.1']));
  });

  it('cost as much as at the maker, or a tenth more in a region of Bedrock', () => {
    for (const { id, provider, price } of knownModels) {
      const [, region = '', name = ''] =
        /^(?:bedrock|vertex|azure)\/(?:(?:(\w+)\.)?anthropic\.)?(.+?)(?:-\d{8})?(?:-v\d.*)?$/.exec(id) ?? [];
      const made = knownModels.find((model) => model.id === name);
      if (!made || provider === made.provider) continue;
      const factor = provider === 'bedrock' && region !== 'global' ? [1, 1.1] : [1];
      expect(factor.map((each) => Number((made.price.input * each).toFixed(6)))).toContain(price.input);
      expect(factor.map((each) => Number((made.price.output * each).toFixed(6)))).toContain(price.output);
    }
  });

  it('of Azure are no default, because a deployment may have another name', () => {
    const azure = { endpoint: 'https://a.example', apiKey: () => 'key' };
    const clouds = { bedrock: null, vertex: null, azure };
    expect(createCatalogue({ ...none, clouds }).defaultModel).toBe('offline');
    const own = ownModels([{ id: 'azure/support-prod', provider: 'azure', like: 'gpt-6.1-terra' }], () => undefined);
    expect(createCatalogue({ ...none, clouds, own }).defaultModel).toBe('azure/support-prod');
    expect(createCatalogue({ ...none, clouds, defaultModel: 'azure/gpt-6.1-sol' }).defaultModel).toBe(
      'azure/gpt-6.1-sol',
    );
  });
});

describe('the limit of the input [MOD-741]', () => {
  it('is that of the vendor, below the window', () => {
    const limits = ['gpt-6.1-sol', 'gpt-5', 'azure/gpt-6.1-terra', 'claude-opus-5-5'].map((id) => {
      const found = knownModels.find((model) => model.id === id);
      return [found?.context_tokens, found?.input_tokens];
    });
    expect(limits).toEqual([
      [1_050_000, 922_000],
      [400_000, 272_000],
      [1_050_000, 922_000],
      [1_000_000, undefined],
    ]);
    for (const { context_tokens, input_tokens } of knownModels) {
      if (input_tokens !== undefined) expect(input_tokens).toBeLessThan(context_tokens);
    }
  });

  it('may be set in the file of the operator', () => {
    const own = ownModels(
      [
        { id: 'x', provider: 'openai', like: 'gpt-5' },
        { id: 'gpt-6-sol', input_tokens: 500_000 },
      ],
      () => undefined,
    );
    const catalogue = createCatalogue({ ...all, own });
    expect(['x', 'gpt-6-sol', 'claude-opus-5-5'].map((id) => catalogue.find('test', id)?.input_tokens)).toEqual([
      272_000,
      500_000,
      null,
    ]);
  });
});

describe('the default model [MOD-205]', () => {
  it.each([
    ['the first provider', all, '2026-11-15', 'claude-sonnet-5-5'],
    ['OpenAI', { ...none, openai: endpoint }, '2026-11-15', 'gpt-6.1-sol'],
    ['Google', { ...none, google: endpoint }, '2026-11-15', 'gemini-3.8-flash'],
    ['what is named', { ...all, defaultModel: 'gpt-5' }, '2026-12-10', 'gpt-5'],
    ['what replaces it from the day it ends', { ...all, defaultModel: 'gpt-5' }, '2026-12-11', 'gpt-5.6-sol'],
    ['another of its provider', { ...all, defaultModel: 'gpt-5.1' }, '2027-04-01', 'gpt-6.1-sol'],
    ['nothing that nobody has', { ...all, defaultModel: 'gpt-99' }, '2026-11-15', null],
    ['the stand-in without a provider', none, '2026-11-15', 'offline'],
  ])('%s', (_of, settings, day, expected) => {
    expect(createCatalogue(settings, on(day)).defaultModel).toBe(expected);
  });

  it('changes while the server runs, on the day its model retires', () => {
    let now = new Date('2026-12-10T23:59:59Z');
    const catalogue = createCatalogue({ ...all, defaultModel: 'gpt-5' }, () => now);
    expect([catalogue.defaultModel, catalogue.find('live', 'gpt-5')?.available]).toEqual(['gpt-5', true]);
    now = new Date('2026-12-11T00:00:00Z');
    expect([catalogue.defaultModel, catalogue.find('live', 'gpt-5')]).toMatchObject([
      'gpt-5.6-sol',
      {
        available: false,
        isRefused: false,
        isRetired: true,
        unavailable_reason: 'The model `gpt-5` was retired on 2026-12-11. Use `gpt-5.6-sol`.',
      },
    ]);
  });

  it('is never a model without a price unless the operator names it', () => {
    const own = ownModels([{ id: 'a-new-one', provider: 'openai' }], () => undefined);
    expect(createCatalogue({ ...none, openai: endpoint, own }).defaultModel).toBe('gpt-6.1-sol');
    expect(createCatalogue({ ...none, openai: endpoint, own, defaultModel: 'a-new-one' }).defaultModel).toBe(
      'a-new-one',
    );
  });
});

it('lists models that retire within 60 days, soonest first [MOD-206]', () => {
  const notes = retirementNotes(createCatalogue(all, on('2026-11-15')).list('live'), on('2026-11-15')());
  expect(notes.filter((note) => !note.includes('2025'))).toEqual([
    'The model `claude-sonnet-4-5` retires on 2026-11-30. Use `claude-sonnet-5-5`.',
    'The model `gpt-5` retires on 2026-12-11. Use `gpt-5.6-sol`.',
    'The model `gpt-5-mini` retires on 2026-12-11. Use `gpt-5.6-terra`.',
    'The model `gpt-5-nano` retires on 2026-12-11. Use `gpt-5.6-luna`.',
  ]);
});

it('prices a model by the day [MOD-207]', () => {
  const priceOfArgon = (day: string) =>
    createCatalogue(all, on(day)).find('live', 'gemini-4-argon')?.price.input_per_mtok;
  expect(['2026-11-30', '2026-12-01'].map(priceOfArgon)).toEqual([2, 4]);
});

describe("a vendor's list", () => {
  const listed = [{ id: 'gpt-7', context_tokens: 2_000_000 }, { id: 'gpt-6.1-sol' }, { id: 'gpt-5-2025-08-07' }];

  it('offers models without a price for test mode only [MOD-203]', () => {
    const catalogue = createCatalogue(all);
    catalogue.learn('openai', listed);
    expect(catalogue.find('test', 'gpt-7')).toMatchObject({
      priced: false,
      available: true,
      context_tokens: 2_000_000,
      price: { input_per_mtok: 1, output_per_mtok: 4 },
    });
    const live = catalogue.find('live', 'gpt-7');
    expect(live).toMatchObject({ priced: false, available: false, isRefused: true });
    expect(live?.unavailable_reason).toContain('VESTRA_MODELS_FILE');
  });

  it('shows which known models are gone; a dated name counts as the plain one [MOD-204]', () => {
    const catalogue = createCatalogue(all, on('2026-11-15'));
    catalogue.learn('openai', listed);
    const reasonOf = (id: string) => catalogue.find('live', id)?.unavailable_reason ?? null;
    expect(['gpt-6.1-sol', 'gpt-5', 'claude-opus-5-5'].map(reasonOf)).toEqual([null, null, null]);
    expect(reasonOf('gpt-6-sol')).toBe(
      "Its provider does not list the model `gpt-6-sol` for this server's key. Use `gpt-6.1-sol`.",
    );
    expect(catalogue.find('live', 'gpt-6-sol')?.isRefused).toBe(false);
  });

  it('overrides the built-in retirement date [MOD-204]', () => {
    const catalogue = createCatalogue(all, on('2026-11-15'));
    catalogue.learn('openai', [{ id: 'gpt-5', retires_on: '2026-11-01' }]);
    expect(catalogue.find('live', 'gpt-5')).toMatchObject({ retires_on: '2026-11-01', isRetired: true });
  });
});

describe("the operator's file [MOD-202]", () => {
  const keyNamed = (variable: string) => (variable === 'QWEN_KEY' ? 'sk-of-qwen' : undefined);

  it('overrides known models and adds others', () => {
    const own = ownModels(
      {
        models: [
          { id: 'gemini-4-argon', price: { input: 1, output: 2 }, retires_on: '2030-01-01' },
          {
            id: 'house/qwen-4',
            provider: 'compatible',
            base_url: 'http://127.0.0.1:8000/v1',
            api_key_env: 'QWEN_KEY',
            price: { input: 0, output: 0 },
            context_tokens: 64_000,
            takes: ['text', 'image'],
          },
          { id: 'gpt-6.1-sol-2026-09-29', provider: 'openai', like: 'gpt-6.1-sol' },
        ],
      },
      keyNamed,
    );
    const catalogue = createCatalogue({ ...all, own }, on('2027-02-01'));
    // The operator's price wins over announced changes of the vendor's price.
    expect(catalogue.find('live', 'gemini-4-argon')).toMatchObject({
      name: 'Gemini 4 Argon',
      price: { input_per_mtok: 1, output_per_mtok: 2, cache_read_per_mtok: 1 },
      context_tokens: 1_048_576,
      retires_on: '2030-01-01',
    });
    expect(catalogue.find('live', 'house/qwen-4')).toMatchObject({
      available: true,
      model: 'qwen-4',
      price: { input_per_mtok: 0 },
      endpoint: { baseUrl: 'http://127.0.0.1:8000/v1' },
    });
    expect(JSON.stringify(catalogue.list('live'))).not.toContain('sk-of-qwen');
    expect(catalogue.find('live', 'gpt-6.1-sol-2026-09-29')).toMatchObject({
      priced: true,
      model: 'gpt-6.1-sol-2026-09-29',
      price: catalogue.find('live', 'gpt-6.1-sol')?.price,
    });
  });

  it('adds no model of a provider without a key', () => {
    const own = ownModels([{ id: 'gpt-7', provider: 'openai' }], () => undefined);
    expect(createCatalogue({ ...none, own }).has('gpt-7')).toBe(false);
  });

  it.each([
    ['a text', 'hello', 'It must be a list of models, each with an id.'],
    ['an entry that is none', [7], 'Entry 1: must be a model with an id.'],
    ['no id', [{ price: {} }], 'Entry 1, field id: must be a text.'],
    [
      'a price that is a text',
      [{ id: 'gpt-5' }, { id: 'gpt-6-sol', price: { input: '4', output: 1 } }],
      'Entry 2 (gpt-6-sol), field price.input: must be a number.',
    ],
    [
      'a negative price',
      [{ id: 'gpt-5', price: { input: -1, output: 1 } }],
      'field price.input: must not be negative.',
    ],
    ['an unknown field', [{ id: 'gpt-5', prize: 1 }], 'Entry 1 (gpt-5), field prize: is no field of a model.'],
    ['a day that is none', [{ id: 'gpt-5', retires_on: 'soon' }], 'field retires_on: must be a day'],
    ['a new one of nobody', [{ id: 'gpt-7' }], 'Entry 1 (gpt-7), field provider: must be one of anthropic'],
    ['a known one of another', [{ id: 'gpt-5', provider: 'google' }], 'field provider: gpt-5 is a model of openai.'],
    ['what it is like is unknown', [{ id: 'x', provider: 'openai', like: 'gpt-99' }], 'field like: no known model'],
    [
      'a key that is not set',
      [{ id: 'x', provider: 'compatible', base_url: 'http://a.example', api_key_env: 'NO_KEY' }],
      'field api_key_env: the environment variable NO_KEY is not set.',
    ],
    ['an address of another', [{ id: 'x', provider: 'openai', base_url: 'http://a.example' }], 'field base_url'],
    ['one that is there twice', [{ id: 'gpt-5' }, { id: 'gpt-5' }], 'Entry 2 (gpt-5) is there twice.'],
  ])('rejects a file with %s', (_what, read, sentence) => {
    expect(() => ownModels(read, keyNamed)).toThrow(OwnModelsFault);
    expect(() => ownModels(read, keyNamed)).toThrow(sentence);
  });
});
