/** All audio within a call is 16-bit mono at this rate. */
export const samplesPerSecond = 16_000;

/** Speech-to-text and text-to-speech, chosen once per server. */
export type Speech = {
  /** The model name on the bill, such as `openai/gpt-realtime`. */
  model: string;
  /** The first one is the default. */
  voices: readonly string[];
  /** Why speech does not work here, and what to do; null if it does. */
  obstacle: () => string | null;
  open: (voice: string) => SpeechSession;
  /** Releases everything for good. */
  close: () => Promise<void>;
};

/** Speech-to-text and text-to-speech of one call. Failures throw `SpeechFailure`. */
export type SpeechSession = {
  listen: () => Utterance;
  /** Yields chunks. The signal stops it between two. */
  speak: (text: string, signal: AbortSignal) => AsyncIterable<Int16Array>;
  /** The billed use since the last call of this function. */
  takeUsed: () => SpeechUse[];
  close: () => void;
};

export type SpeechUse = { unit: 'input_tokens' | 'output_tokens'; quantity: number; unitPriceMicros: number };

/** One utterance of the user. */
export type Utterance = {
  push: (samples: Int16Array) => void;
  /** The transcript so far; empty if there are no words. Can be called again after more sound. */
  text: () => Promise<string>;
  drop: () => void;
};

/** Recognition or synthesis failed. The message is for the log and never for the user. */
export class SpeechFailure extends Error {
  override readonly name = 'SpeechFailure';
}
