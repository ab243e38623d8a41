import { samplesPerSecond } from './speech.ts';

/** Ten milliseconds. */
const outSamples = samplesPerSecond / 100;

type PlayingSentence = { id: number; samples: Int16Array[]; length: number; played: number; isWhole: boolean };

export type Interruption = { id: number; share: number };

/**
 * Plays sentences in order, ten milliseconds at a time. A break keeps the rest: a cough must not cost the rest of a
 * reply.
 */
export function createLoudspeaker(said: (id: number) => void) {
  let queue: PlayingSentence[] = [];
  let isBroken = false;

  const find = (id: number) => {
    const known = queue.find((each) => each.id === id);
    if (known) return known;
    const added: PlayingSentence = { id, samples: [], length: 0, played: 0, isWhole: false };
    queue.push(added);
    return added;
  };

  function take(saying: PlayingSentence, out: Int16Array, from: number): number {
    let at = saying.played;
    let filled = from;
    for (const piece of saying.samples) {
      if (at >= piece.length) {
        at -= piece.length;
        continue;
      }
      const part = piece.subarray(at, at + out.length - filled);
      out.set(part, filled);
      filled += part.length;
      saying.played += part.length;
      at = 0;
      if (filled === out.length) break;
    }
    return filled;
  }

  return {
    add(id: number, samples: Int16Array, isWhole: boolean) {
      const saying = find(id);
      if (samples.length > 0) saying.samples.push(samples);
      saying.length += samples.length;
      saying.isWhole = isWhole;
    },
    /** The next ten milliseconds, or silence. */
    next(): Int16Array {
      const out = new Int16Array(outSamples);
      let filled = 0;
      while (!isBroken && queue[0] && filled < out.length) {
        const [saying] = queue;
        filled = take(saying, out, filled);
        if (saying.played < saying.length || !saying.isWhole) break;
        queue.shift();
        said(saying.id);
      }
      return out;
    },
    /** Pauses until `resume` or `clear`. Null if nothing was playing. */
    break(): Interruption | null {
      const [saying] = queue;
      const wasBroken = isBroken;
      isBroken = true;
      if (wasBroken || !saying) return null;
      return { id: saying.id, share: saying.length === 0 ? 0 : saying.played / saying.length };
    },
    resume() {
      isBroken = false;
    },
    clear() {
      queue = [];
      isBroken = false;
    },
    isSpeaking: () => !isBroken && queue.length > 0,
  };
}

/** The reach of the filter to each side, in samples of the lower rate. */
const reach = 12;

/** Converts the sample rate chunk by chunk. Samples that need the next chunk wait for it. */
export function createResampler(from: number, to: number): (samples: Int16Array) => Int16Array {
  if (from === to) return (samples) => samples;
  const scale = Math.min(1, to / from);
  const half = Math.ceil(reach / scale);
  /** Output samples fall on few phases between input samples. The weights of each phase are computed once. */
  const filters = new Map<number, Float32Array>();
  let held = new Float32Array(half);
  /** The samples sent, and the input samples dropped from `held`. Whole numbers do not drift. */
  let sent = 0;
  let dropped = -half;

  return (samples) => {
    const input = new Float32Array(held.length + samples.length);
    input.set(held);
    input.set(samples, held.length);
    const out: number[] = [];
    for (;;) {
      const middle = Math.floor((sent * from) / to) - dropped;
      if (middle + half >= input.length) break;
      const phase = (sent * from) % to;
      const weights = filters.get(phase) ?? filterOf(phase / to, scale, half);
      filters.set(phase, weights);
      let sum = 0;
      for (let at = 0; at < weights.length; at++) {
        sum += (weights[at] as number) * (input[middle - half + 1 + at] as number);
      }
      out.push(Math.max(-32_768, Math.min(32_767, Math.round(sum))));
      sent += 1;
    }
    const unused = Math.max(0, Math.floor((sent * from) / to) - dropped - half);
    held = input.slice(unused);
    dropped += unused;
    return Int16Array.from(out);
  };
}

/** A windowed sinc with a sum of one. */
function filterOf(fraction: number, scale: number, half: number): Float32Array {
  const weights = Float32Array.from({ length: 2 * half }, (_, at) => {
    const distance = at - half + 1 - fraction;
    return sinc(distance * scale) * (0.5 + 0.5 * Math.cos((Math.PI * distance) / half));
  });
  const sum = weights.reduce((all, weight) => all + weight, 0);
  return weights.map((weight) => weight / sum);
}

const sinc = (x: number) => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));

/** The frame size of the speech detector. */
export const frameSamples = 512;
const frameMs = 32;

export type SpeechEvent = 'started' | 'paused' | 'resumed' | 'ended';

type Settings = {
  /** A frame counts as speech above the first value, until it falls below the second. */
  speechAbove: number;
  silenceBelow: number;
  /** How long speech must last before it counts. */
  startsAfterMs: number;
  /** The same while the agent speaks, because the microphone may pick up the agent. */
  interruptsAbove: number;
  interruptsAfterMs: number;
  /** A pause in which the words so far are already transcribed. */
  pausesAfterMs: number;
  /** Silence after which the user has finished. */
  endsAfterMs: number;
};

/** An interruption counts within 300 ms: 160 ms of speech, one frame, and the network. */
const usual: Settings = {
  speechAbove: 0.5,
  silenceBelow: 0.35,
  startsAfterMs: 96,
  interruptsAbove: 0.8,
  interruptsAfterMs: 160,
  pausesAfterMs: 160,
  endsAfterMs: 416,
};

/** Turns the speech probability of each frame into the start and end of an utterance. */
export function createSpeechGate(given: Partial<Settings> = {}) {
  const settings = { ...usual, ...given };
  let state: 'silent' | 'speaking' | 'paused' = 'silent';
  let loudMs = 0;
  let quietMs = 0;

  return (probability: number, isAgentSpeaking: boolean): SpeechEvent | null => {
    const above = state === 'silent' && isAgentSpeaking ? settings.interruptsAbove : settings.speechAbove;
    loudMs = probability >= above ? loudMs + frameMs : 0;
    quietMs = probability < settings.silenceBelow ? quietMs + frameMs : 0;
    if (state === 'silent') {
      if (loudMs < (isAgentSpeaking ? settings.interruptsAfterMs : settings.startsAfterMs)) return null;
      state = 'speaking';
      return 'started';
    }
    if (state === 'paused' && loudMs >= frameMs * 2) {
      state = 'speaking';
      return 'resumed';
    }
    if (quietMs >= settings.endsAfterMs) {
      state = 'silent';
      loudMs = 0;
      return 'ended';
    }
    if (state === 'speaking' && quietMs >= settings.pausesAfterMs) {
      state = 'paused';
      return 'paused';
    }
    return null;
  };
}
