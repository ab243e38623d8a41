/** All audio between the parts of a call is 16-bit mono at this rate. */
export const samplesPerSecond = 16_000;

/** Ears and mouth of an agent: what they are made of is chosen once for a server. */
export type Speech = {
  /** What stands beside its costs, such as `openai/gpt-realtime`. */
  model: string;
  /** The first is the one that speaks where none was named. */
  voices: readonly string[];
  /** A sentence that says what keeps it from working here and what to do; null where nothing does. */
  obstacle: () => string | null;
  open: (voice: string) => SpeechCall;
  /** Ends what it holds, for good. */
  close: () => Promise<void>;
};

/** The ears and mouth of one call. Whatever fails throws `SpeechFailure`. */
export type SpeechCall = {
  listen: () => Utterance;
  /** Piece by piece; the signal ends it in the middle. */
  speak: (text: string, signal: AbortSignal) => AsyncIterable<Int16Array>;
  /** What was used since it was last asked for, where that costs by itself. */
  takeUsed: () => SpeechUse[];
  close: () => void;
};

export type SpeechUse = { unit: 'input_tokens' | 'output_tokens'; quantity: number; unitPriceMicros: number };

/** One thing a person says. */
export type Utterance = {
  push: (samples: Int16Array) => void;
  /** The words of all that was pushed until now; empty where there are none. May be asked for again after more. */
  text: () => Promise<string>;
  drop: () => void;
};

/** Speech could not be heard or made; the message is for the log and never for the person. */
export class SpeechFailure extends Error {
  override readonly name = 'SpeechFailure';
}
