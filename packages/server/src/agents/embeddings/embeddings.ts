/** Turns texts into vectors whose angle says how near two texts are in meaning. */
export type Embeddings = {
  /** Stored beside every vector: those of two models, or of one model in two sizes, are not comparable. */
  model: string;
  dimensions: number;
  /** The text search configurations of PostgreSQL whose texts it reads; `simple` is that of a text too short to tell. */
  languages: readonly string[] | 'every';
  /** Whether the model can read the text. What it cannot read looks to it like any other text it cannot read. */
  understands: (text: string) => boolean;
  /**
   * The text in pieces that the model reads to their end; one for most texts. Who stores a text stores a vector for each,
   * and the text is as near as its nearest piece.
   */
  pieces: (text: string) => string[];
  /**
   * One vector of length 1 for each text, in order; all zero for a text without a letter or digit. A text of several
   * pieces gets their mean. Throws `EmbeddingsFailure`, or the reason of `signal`.
   */
  embed: (texts: readonly string[], options?: EmbedOptions) => Promise<Float32Array[]>;
  /**
   * Below it a text has nothing to do with the query. It is the model's own: some put any two texts at 0.6, others at 0.
   * Throws as `embed` does.
   */
  leastSimilarity: (options?: { query?: string; signal?: AbortSignal }) => Promise<number>;
};

export type EmbedOptions = {
  signal?: AbortSignal;
  /** Somebody waits for the answer to a `query`, the default; it passes whatever is to be stored, however much that is. */
  urgency?: 'query' | 'index';
};
