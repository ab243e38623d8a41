import { type Model, type ModelEvent, ModelFailure, type ModelFailureReason } from '@vestra/agent/model';
import { expect, it, vi } from 'vitest';
import { ownModels } from './catalogue/own-models.ts';
import { withFallbacks } from './fallbacks.ts';
import { createModels } from './models.ts';
import { startScriptedModelServer } from './testing/scripted-server.ts';

const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
const end: ModelEvent = { type: 'end', usage, cut: false };
const says = (text: string): Model => ({
  async *stream() {
    yield { type: 'text', text };
    yield end;
  },
});
const fails = (reason: ModelFailureReason, said = '', used = false): Model => ({
  async *stream() {
    if (said !== '') yield { type: 'text', text: said };
    throw new ModelFailure(reason, `first ${reason}`, used ? { usage } : {});
  },
});

async function heard(first: Model, others: readonly Model[], signal = new AbortController().signal) {
  const request = { model: 'first', system: [], messages: [], tools: [], signal };
  const lookUp = vi.fn(async () => others);
  let text = '';
  const failure = await (async () => {
    for await (const event of withFallbacks(first, lookUp).stream(request))
      if (event.type === 'text') text += event.text;
    return null;
  })().catch((error: Error) => error.message);
  return { text, failure, lookedUp: lookUp.mock.calls.length };
}

it.each<[string, Model, Model[], Awaited<ReturnType<typeof heard>>]>([
  ['answers', says('A'), [says('B')], { text: 'A', failure: null, lookedUp: 0 }],
  ['is away', fails('unavailable'), [says('B')], { text: 'B', failure: null, lookedUp: 1 }],
  ['is too busy', fails('rate_limited'), [says('B')], { text: 'B', failure: null, lookedUp: 1 }],
  ['is silent', fails('timeout'), [fails('unavailable'), says('C')], { text: 'C', failure: null, lookedUp: 1 }],
  ['has begun', fails('timeout', 'A'), [says('B')], { text: 'A', failure: 'first timeout', lookedUp: 0 }],
  ['has been paid for', fails('timeout', '', true), [says('B')], { text: '', failure: 'first timeout', lookedUp: 0 }],
  ['refuses', fails('refused'), [says('B')], { text: '', failure: 'first refused', lookedUp: 0 }],
  ['finds it too long', fails('too_long'), [says('B')], { text: '', failure: 'first too_long', lookedUp: 0 }],
  ['is away like all', fails('timeout'), [fails('unavailable')], { text: '', failure: 'first timeout', lookedUp: 1 }],
  ['is away alone', fails('unavailable'), [], { text: '', failure: 'first unavailable', lookedUp: 1 }],
])(
  'a fallback answers only for a model that is unavailable and has sent nothing: it %s [MOD-208]',
  async (_how, first, others, expected) => {
    expect(await heard(first, others)).toEqual(expected);
  },
);

it('uses no fallback for an aborted call [MOD-208]', async () => {
  const stopped = AbortSignal.abort();
  expect(await heard(fails('unavailable'), [says('B')], stopped)).toMatchObject({ text: '', lookedUp: 0 });
});

it('a model that has ended is reported as ended, and a fallback answers [MOD-741]', async () => {
  const server = await startScriptedModelServer({
    respond: ({ model }) => (model === 'gpt-gone' ? { fail: 404, failCode: 'model_not_found' } : { text: 'B' }),
  });
  try {
    const gone = { id: 'gpt-gone', provider: 'openai', like: 'gpt-6-luna', retires_on: '2026-01-31' };
    const own = ownModels([{ ...gone, replacement: 'gpt-6-luna' }], () => undefined);
    const models = createModels({ ...server.settings, own });
    expect(models.catalogue.find('live', 'gpt-gone')).toMatchObject({
      available: false,
      unavailable_reason: 'The model `gpt-gone` was retired on 2026-01-31. Use `gpt-6-luna`.',
    });
    expect(await heard(models.model('gpt-gone'), [])).toMatchObject({
      failure:
        'OpenAI has no model gpt-gone at its address (404 model_not_found). Its end was announced for 2026-01-31. Use gpt-6-luna.',
    });
    expect(await heard(models.model('gpt-gone'), [models.model('gpt-6-luna')])).toMatchObject({
      text: 'B',
      failure: null,
    });
  } finally {
    await server.close();
  }
});
