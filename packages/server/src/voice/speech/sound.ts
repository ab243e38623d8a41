import { samplesPerSecond } from './speech.ts';

/** What goes out at once: ten milliseconds. */
const outSamples = samplesPerSecond / 100;

type Saying = { id: number; samples: Int16Array[]; length: number; played: number; isWhole: boolean };

export type Interruption = { id: number; share: number };

/**
 * What is to be said, in order, handed out ten milliseconds at a time. A break keeps what is left: a cough must not cost
 * the rest of an answer.
 */
export function createLoudspeaker(said: (id: number) => void) {
  let queue: Saying[] = [];
  let isBroken = false;

  const find = (id: number) => {
    const known = queue.find((each) => each.id === id);
    if (known) return known;
    const added: Saying = { id, samples: [], length: 0, played: 0, isWhole: false };
    queue.push(added);
    return added;
  };

  function take(saying: Saying, out: Int16Array, from: number): number {
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
    /** The next ten milliseconds, silence where there is nothing to say. */
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
    /** Nothing goes out until it is resumed or cleared. Null where nothing was being said. */
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

/** How far the filter reaches to either side, in samples of the lower rate. */
const reach = 12;

/** From one rate to another, piece by piece: what one piece needs of the next waits for it. */
export function createResampler(from: number, to: number): (samples: Int16Array) => Int16Array {
  if (from === to) return (samples) => samples;
  const scale = Math.min(1, to / from);
  const half = Math.ceil(reach / scale);
  /** A sample that goes out lies between two that came in, at one of few places: each has its weights, made once. */
  const filters = new Map<number, Float32Array>();
  let held = new Float32Array(half);
  /** How many have gone out, and how many that came in were dropped from `held`: whole numbers do not drift. */
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

/** A windowed sinc, as strong as what it is laid over. */
function filterOf(fraction: number, scale: number, half: number): Float32Array {
  const weights = Float32Array.from({ length: 2 * half }, (_, at) => {
    const distance = at - half + 1 - fraction;
    return sinc(distance * scale) * (0.5 + 0.5 * Math.cos((Math.PI * distance) / half));
  });
  const sum = weights.reduce((all, weight) => all + weight, 0);
  return weights.map((weight) => weight / sum);
}

const sinc = (x: number) => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));

/** What a detector of speech looks at together. */
export const frameSamples = 512;
const frameMs = 32;

export type GateNews = 'started' | 'paused' | 'resumed' | 'ended';

type Settings = {
  /** From here on a frame is speech; it stays speech until it falls below the other. */
  speechAbove: number;
  silenceBelow: number;
  /** How long speech lasts before it counts. */
  startsAfterMs: number;
  /** The same while the agent speaks, where what the microphone hears may be the agent. */
  interruptsAbove: number;
  interruptsAfterMs: number;
  /** A pause in which what was said so far can be read already. */
  pausesAfterMs: number;
  /** Silence after which the person has said what they wanted to say. */
  endsAfterMs: number;
};

/** An interruption counts within 300 ms of its first sound: 160 of speech, a frame, and the way to the ear. */
const usual: Settings = {
  speechAbove: 0.5,
  silenceBelow: 0.35,
  startsAfterMs: 96,
  interruptsAbove: 0.8,
  interruptsAfterMs: 160,
  pausesAfterMs: 160,
  endsAfterMs: 512,
};

/** Turns how likely each frame is speech into the beginning and end of what a person says. */
export function createSpeechGate(given: Partial<Settings> = {}) {
  const settings = { ...usual, ...given };
  let state: 'silent' | 'speaking' | 'paused' = 'silent';
  let loudMs = 0;
  let quietMs = 0;

  return (probability: number, isAgentSpeaking: boolean): GateNews | null => {
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
