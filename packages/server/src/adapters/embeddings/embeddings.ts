/** Turns texts into vectors whose angle says how near two texts are in meaning. */
export type Embeddings = {
  /** Stored beside every vector: those of two models are not comparable. */
  model: string;
  dimensions: number;
  /** The text search configurations of PostgreSQL whose texts it reads; `simple` is that of a text too short to tell. */
  languages: readonly string[] | 'every';
  /** Whether the model can read the text. What it cannot read looks to it like any other text it cannot read. */
  understands: (text: string) => boolean;
  /**
   * One vector of length 1 for each text, in order. Throws `EmbeddingsFailure`, or the reason of `signal`. Calls with
   * few texts are not held up by those with many.
   */
  embed: (texts: readonly string[], signal?: AbortSignal) => Promise<Float32Array[]>;
};
