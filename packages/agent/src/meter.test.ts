import { describe, expect, it } from 'vitest';
import { createMeter } from './meter.ts';
import { type Model, type ModelEvent, ModelFailure, type ModelRequest, type Usage } from './model.ts';
import { tokensOfRequest } from './tokens.ts';

const usage: Usage = { inputTokens: 7, outputTokens: 3, cacheReadTokens: 2, cacheWriteTokens: 1 };
const requestWith = (signal: AbortSignal = new AbortController().signal): ModelRequest => ({
  model: 'scripted',
  system: ['Be kind.'],
  messages: [{ role: 'user', parts: [{ kind: 'text', text: 'Hi' }] }],
  tools: [],
  signal,
});

/** Yields the events and then ends, or throws `end` if it is given. */
const scripted = (events: readonly ModelEvent[], end?: unknown): Model => ({
  async *stream() {
    yield* events;
    if (end !== undefined) throw end;
  },
});
const text = (words: string): ModelEvent => ({ type: 'text', text: words });
const whole: ModelEvent = { type: 'end', usage, cut: false };

async function listen(model: Model, request = requestWith(), most = Number.POSITIVE_INFINITY) {
  let seen = 0;
  for await (const _ of model.stream(request)) {
    seen += 1;
    if (seen === most) return;
  }
}
const failed = (model: Model, request?: ModelRequest) =>
  listen(model, request).then(
    () => null,
    (error: unknown) => error as ModelFailure,
  );

describe('createMeter', () => {
  it("adds up the vendor's figures until they are charged [MON-165]", async () => {
    const meter = createMeter();
    const model = meter.listenTo(scripted([text('Hello.'), whole]));
    expect(meter.used()).toBeNull();
    await listen(model);
    expect(meter.used()).toEqual(usage);
    await listen(model);
    expect(meter.used()).toEqual({ inputTokens: 14, outputTokens: 6, cacheReadTokens: 4, cacheWriteTokens: 2 });
    meter.reset();
    expect(meter.used()).toBeNull();
  });

  it('names the model that answers for another, also if the call was abandoned [MOD-208]', async () => {
    const meter = createMeter();
    await listen(meter.listenTo(scripted([text('Hello.'), whole]), 'other'));
    expect(meter.used()).toEqual({ ...usage, model: 'other' });
    meter.reset();
    const broken = new ModelFailure('timeout', 'x');
    const failure = await failed(meter.listenTo(scripted([text('Hello.')], broken), 'other'));
    expect([failure?.usage?.model, meter.used()?.model]).toEqual(['other', 'other']);
  });

  it('estimates the usage of a call that was abandoned, broke off or sent no end [MON-165]', async () => {
    const counted = (bytes: number) => ({
      inputTokens: tokensOfRequest(requestWith()),
      outputTokens: Math.ceil(bytes / 3.5),
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      isEstimated: true,
    });
    for (const words of ['Hello, ', 'Grüße, ', '你好']) {
      const left = createMeter();
      await listen(left.listenTo(scripted([text(words), text('and more'), whole])), requestWith(), 1);
      expect(left.used()).toEqual(counted(Buffer.byteLength(words)));
    }
    for (const end of [new ModelFailure('unavailable', 'Gone.'), undefined]) {
      const broken = createMeter();
      const failure = await failed(broken.listenTo(scripted([text('Hello.')], end)));
      expect(failure).toBeInstanceOf(ModelFailure);
      expect([failure?.usage, broken.used()]).toEqual([counted(6), counted(6)]);
    }
  });

  it("counts nothing for a call that failed before its first word, and the vendor's figures for a rejected one", async () => {
    const meter = createMeter();
    const failure = await failed(meter.listenTo(scripted([], new ModelFailure('rate_limited', 'Later.'))));
    expect([failure?.usage, meter.used()]).toEqual([null, null]);
    const refused = await failed(meter.listenTo(scripted([], new ModelFailure('refused', 'Filtered.', { usage }))));
    expect([refused?.usage, meter.used()]).toEqual([usage, usage]);
  });

  it('counts the request of a silent call that is ended after the vendor must have received it [MON-165]', async () => {
    let now = 0;
    const meter = createMeter(() => now);
    const ending = new AbortController();
    const silent: Model = {
      async *stream({ signal }) {
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
        yield whole;
      },
    };
    const call = failed(meter.listenTo(silent), requestWith(ending.signal));
    now = 999;
    expect(meter.used()).toBeNull();
    now = 1_000;
    ending.abort(new Error('Stopped.'));
    expect((await call)?.message).toBe('Stopped.');
    expect(meter.used()).toMatchObject({ outputTokens: 0, isEstimated: true });
    expect(meter.used()?.inputTokens).toBeGreaterThan(0);
  });
});
