import { describe, expect, it } from 'vitest';
import { createLoudspeaker, createResampler, createSpeechGate, frameSamples, type SpeechEvent } from './sound.ts';
import { openVoiceActivity } from './speech-models.ts';
import { shortPause, silenceLast } from './text-to-speech.ts';

/** `#` is a frame of speech, `+` a possible one, `.` silence, each of 32 ms. An event shows as its first letter. */
function hear(sound: string, isAgentSpeaking = false): string {
  const gate = createSpeechGate();
  const likely: Record<string, number> = { '#': 0.95, '+': 0.6, '.': 0.02 };
  const letters: Record<SpeechEvent, string> = { started: 's', paused: 'p', resumed: 'r', ended: 'e' };
  return [...sound]
    .map((frame) => letters[gate(likely[frame] as number, isAgentSpeaking) as SpeechEvent] ?? '-')
    .join('');
}

describe('the speech gate [VOI-260]', () => {
  it.each([
    ['begins after a tenth of a second', '..###', '----s'],
    ['does not begin with a click', '..##..##..', '----------'],
    ['pauses, and ends after four tenths of a second', '###.................', '--s----p-------e----'],
    ['goes on after a pause', '###........##.', '--s----p----r-'],
    ['is not ended by a breath', '###....###....###', '--s--------------'],
  ])('%s', (_, sound, news) => {
    expect(hear(sound)).toBe(news);
  });

  it('detects an interruption within 200 ms, but not an echo', () => {
    expect(hear('######', true)).toBe('----s-');
    expect(hear('++++++++', true)).toBe('--------');
    expect(hear('++++++++')).toBe('--s-----');
  });
});

describe('the speech detector', () => {
  /** Detects speech in every frame. */
  const runtime = `data:text/javascript,export default {
    InferenceSession: { create: async () => ({ run: async () => ({ output: { data: [0.9] }, stateN: {} }) }) },
    Tensor: class {},
  }`;

  it('runs for every frame except silence [VOI-260]', async () => {
    const probabilityOf = await openVoiceActivity(runtime, import.meta.filename);
    const frames = [0, 31, -31, 32, -32].map((peak) => new Int16Array(frameSamples).fill(peak, 100, 101));
    expect(await Promise.all(frames.map(probabilityOf))).toEqual([0, 0, 0, 0.9, 0.9]);
  });
});

describe('the loudspeaker', () => {
  const sound = (length: number, value: number) => new Int16Array(length).fill(value);
  const firsts = (speaker: ReturnType<typeof createLoudspeaker>, count: number) =>
    Array.from({ length: count }, () => speaker.next()[0]);

  it('plays one sentence after the other, reports when each is done, and is silent otherwise', () => {
    const said: number[] = [];
    const speaker = createLoudspeaker((id) => said.push(id));
    expect(firsts(speaker, 1)).toEqual([0]);
    speaker.add(1, sound(160, 5), false);
    speaker.add(2, sound(320, 7), true);
    expect([firsts(speaker, 2), said]).toEqual([[5, 0], []]);
    speaker.add(1, sound(80, 6), true);
    // The rest of a frame belongs to the next sentence.
    const mixed = speaker.next();
    expect([mixed[0], mixed[79], mixed[80], said]).toEqual([6, 6, 7, [1]]);
    expect([firsts(speaker, 3), said, speaker.isSpeaking()]).toEqual([[7, 7, 0], [1, 2], false]);
  });

  it('stops in the middle, and resumes there or drops the rest [VOI-261]', () => {
    const said: number[] = [];
    const speaker = createLoudspeaker((id) => said.push(id));
    speaker.add(1, sound(1600, 5), true);
    firsts(speaker, 4);
    expect(speaker.break()).toEqual({ id: 1, share: 0.4 });
    expect([speaker.break(), firsts(speaker, 1), speaker.isSpeaking()]).toEqual([null, [0], false]);
    speaker.resume();
    expect(firsts(speaker, 7)).toEqual([5, 5, 5, 5, 5, 5, 0]);
    expect(speaker.break()).toBeNull();
    speaker.add(2, sound(160, 9), true);
    expect(firsts(speaker, 1)).toEqual([0]);
    speaker.clear();
    expect([firsts(speaker, 1), said]).toEqual([[0], [1]]);
  });
});

describe('the resampler', () => {
  const tone = (rate: number, hertz: number, seconds: number) =>
    Int16Array.from({ length: rate * seconds }, (_, at) => 10_000 * Math.sin((2 * Math.PI * hertz * at) / rate));
  const inPieces = (samples: Int16Array, size: number, resample: (piece: Int16Array) => Int16Array) => {
    const out: number[] = [];
    for (let at = 0; at < samples.length; at += size) out.push(...resample(samples.subarray(at, at + size)));
    return out;
  };
  const loudness = (samples: readonly number[]) =>
    Math.sqrt(samples.reduce((sum, value) => sum + value * value, 0) / samples.length);

  it.each([
    [48_000, 16_000, 480],
    [24_000, 16_000, 1000],
    [16_000, 24_000, 512],
    [44_100, 16_000, 441],
  ])('keeps a tone from %i to %i, in chunks of any size', (from, to, size) => {
    const out = inPieces(tone(from, 440, 1), size, createResampler(from, to));
    expect(Math.abs(out.length - to)).toBeLessThan(to / 400);
    const middle = out.slice(to / 4, (to * 3) / 4);
    expect(loudness(middle)).toBeGreaterThan(6_900);
    const crossings = middle.filter((value, at) => at > 0 && value >= 0 && (middle[at - 1] as number) < 0).length;
    expect(crossings).toBeGreaterThanOrEqual(218);
    expect(crossings).toBeLessThanOrEqual(222);
  });

  it('removes frequencies that the lower rate cannot represent', () => {
    const out = inPieces(tone(48_000, 11_000, 0.5), 480, createResampler(48_000, 16_000));
    expect(loudness(out.slice(1000))).toBeLessThan(300);
  });
});

describe('a synthesised sentence', () => {
  it('begins with its first sound and ends with its silence', () => {
    const made = new Int16Array(4000).fill(500, 3000, 3500);
    const moved = silenceLast(made);
    expect([moved.length, moved.indexOf(500), moved.lastIndexOf(500)]).toEqual([4000, 480, 979]);
    expect(silenceLast(moved)).toEqual(moved);
    // The noise at the start of the default voice is no sound either.
    expect(silenceLast(made.map((sample) => sample || 80)).indexOf(500)).toBe(480);
    expect(silenceLast(new Int16Array(100))).toEqual(new Int16Array(100));
  });

  it('continues soon after a comma', () => {
    const made = new Int16Array(16_000).fill(500, 480, 1_480);
    expect([shortPause(made).length, shortPause(made.subarray(0, 1_500)).length]).toEqual([3_399, 1_500]);
  });
});
