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
