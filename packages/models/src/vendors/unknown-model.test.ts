import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createModels } from '../models.ts';
import type { RawVendor } from './raw-endpoint.fixture.ts';
import { startStrictEndpoint, user } from './strict-endpoint.fixture.ts';

let endpoint: Awaited<ReturnType<typeof startStrictEndpoint>>;
beforeAll(async () => {
  endpoint = await startStrictEndpoint();
});
afterAll(() => endpoint.close());

describe('[MOD-708] a model that the vendor does not have', () => {
  it.each<[RawVendor, number, object]>([
    [
      'openai',
      400,
      {
        error: {
          message: "The requested model 'gpt-5' does not exist.",
          type: 'invalid_request_error',
          code: 'model_not_found',
        },
      },
    ],
    ['anthropic', 400, { message: 'The provided model identifier is invalid.' }],
    ['compatible', 400, { error: { message: 'Model Not Exist', type: 'invalid_request_error' } }],
    ['compatible', 400, { object: 'error', message: 'Invalid model: any', type: 'invalid_model', code: '1500' }],
    ['compatible', 400, { error: { message: 'x/any is not a valid model ID', code: 400 } }],
    [
      'compatible',
      400,
      {
        error: {
          message: 'The model `any` has been decommissioned and is no longer supported.',
          code: 'model_decommissioned',
        },
      },
    ],
  ])('is unavailable, so that fallbacks answer: %s %i', async (vendor, status, error) => {
    endpoint.refusing(vendor, () => error, status);
    expect(await endpoint.open(vendor).ask()).toMatchObject({ failure: 'unavailable' });
    expect(endpoint.bodies).toHaveLength(1);
  });

  it('is not confused with an account without credit, which Anthropic rejects with 400', async () => {
    const message = 'Your credit balance is too low to access the Anthropic API.';
    endpoint.refusing('anthropic', () => ({ type: 'error', error: { type: 'invalid_request_error', message } }));
    expect(await endpoint.open('anthropic').ask()).toMatchObject({ failure: 'unavailable' });
    expect(endpoint.bodies).toHaveLength(1);
  });

  it('is named with its announced end', async () => {
    endpoint.refusing('anthropic', () => ({ message: 'The provided model identifier is invalid.' }));
    const base = { apiKey: () => 'sk-x', baseUrl: `${endpoint.url}/v1` };
    const model = createModels(
      { anthropic: base, openai: null, google: null, compatible: null, own: [], defaultModel: null },
      { attempts: 1 },
    );
    const stream = model
      .model('claude-sonnet-4-5')
      .stream({ model: '', system: [], messages: [user('Hi')], tools: [], signal: new AbortController().signal });
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toThrow(
      'Its end was announced for 2026-11-30. Use claude-sonnet-5-5.',
    );
  });
});
