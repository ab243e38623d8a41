import { afterEach, describe, expect, it } from 'vitest';
import { type RealtimeServer, startRealtimeServer } from './realtime-server.fixture.ts';
import { createRealtimeSpeech } from './realtime-speech.ts';
import { SpeechFailure } from './speech.ts';

let server: RealtimeServer;
const opened: { close: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
  server.close();
});

async function start(options: Parameters<typeof startRealtimeServer>[0] = {}) {
  server = await startRealtimeServer(options);
  const speech = createRealtimeSpeech({ apiKey: () => 'sk-own', baseUrl: server.baseUrl, model: 'gpt-realtime' });
  opened.push(speech);
  return speech.open('cedar');
}

const second = () => Int16Array.from({ length: 16_000 }, (_, at) => 8_000 * Math.sin(at / 5));
const never = new AbortController().signal;
const typesOf = () => server.messages.map(({ type }) => type);

describe('speech by a realtime API [VOI-267]', () => {
  it('transcribes pushed sound, and stores nothing at the vendor', async () => {
    const call = await start({ hear: (seconds) => `${seconds.toFixed(1)} seconds` });
    const utterance = call.listen();
    utterance.push(second());
    expect(await utterance.text()).toBe('1.0 seconds');
    // A second call without more sound sends nothing.
    expect(await utterance.text()).toBe('1.0 seconds');
    utterance.push(second());
    expect(await utterance.text()).toBe('1.0 seconds 1.0 seconds');
    utterance.drop();
    expect(server.opened).toEqual([{ url: '/v1/realtime?model=gpt-realtime', authorization: 'Bearer sk-own' }]);
    expect(server.messages[0]).toMatchObject({
      type: 'session.update',
      session: { audio: { input: { turn_detection: null, format: { rate: 24_000 } }, output: { voice: 'cedar' } } },
    });
    expect(typesOf().filter((type) => type === 'input_audio_buffer.commit')).toHaveLength(2);
    const { promise, resolve } = Promise.withResolvers<void>();
    const deleted = setInterval(() => {
      if (server.messages.filter(({ type }) => type === 'conversation.item.delete').length === 2) resolve();
    }, 5);
    await promise;
    clearInterval(deleted);
  });

  it('speaks only the given text, and counts the tokens', async () => {
    const call = await start();
    let samples = 0;
    for await (const piece of call.speak('Your parcel arrives', never)) samples += piece.length;
    // Three words of a tenth of a second each, minus the reach of the filter.
    expect(samples).toBeGreaterThan(4_700);
    expect(samples).toBeLessThanOrEqual(4_800);
    const { response } = server.messages.find(({ type }) => type === 'response.create') ?? {};
    expect(response).toMatchObject({ conversation: 'none', output_modalities: ['audio'] });
    expect(response.input[0].content).toEqual([{ type: 'input_text', text: 'Your parcel arrives' }]);
    expect(call.takeUsed()).toEqual([
      { unit: 'input_tokens', quantity: 30, unitPriceMicros: 4 },
      { unit: 'output_tokens', quantity: 45, unitPriceMicros: 64 },
      { unit: 'output_tokens', quantity: 5, unitPriceMicros: 16 },
    ]);
    expect(call.takeUsed()).toEqual([]);
  });

  it('stops on abort, and cancels at the vendor', async () => {
    const call = await start({ swallow: ({ type }) => type === 'done' });
    const stop = new AbortController();
    for await (const _ of call.speak('One two three', stop.signal)) stop.abort();
    await expect.poll(typesOf).toContain('response.cancel');
  });

  it('fails with a message if the vendor refuses or disconnects, and reconnects', async () => {
    let isRefusing = true;
    const call = await start({
      hear: () => 'Yes.',
      swallow: ({ type }, send) => {
        if (!isRefusing || type !== 'input_audio_buffer.commit') return false;
        send({ type: 'error', error: { message: 'Too busy.' } });
        return true;
      },
    });
    const hear = async () => {
      const utterance = call.listen();
      utterance.push(second());
      return utterance.text();
    };
    await expect(hear()).rejects.toThrow(new SpeechFailure('Too busy.'));
    isRefusing = false;
    expect(await hear()).toBe('Yes.');
    server.drop();
    await expect.poll(hear).toBe('Yes.');
    expect(server.opened.length).toBeGreaterThan(1);
  });

  it('returns no words for sound that the vendor cannot transcribe', async () => {
    const call = await start({ hear: () => null });
    const utterance = call.listen();
    utterance.push(new Int16Array(800));
    expect(await utterance.text()).toBe('');
    utterance.push(second());
    expect(await utterance.text()).toBe('');
  });

  it('fails if the vendor does not respond', async () => {
    const call = await start();
    server.close();
    await expect(async () => {
      for await (const _ of call.speak('Hello', never));
    }).rejects.toThrow(SpeechFailure);
  });
});
