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

export class EmbeddingsFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'EmbeddingsFailure';
  }
}

/**
 * A text in parts of at most so many characters, whole sentences where they fit, else whole words, all of about the same
 * length: a short rest at the end would say little.
 */
export function cutText(text: string, most: number): string[] {
  if (text.length <= most) return [text];
  const aim = Math.ceil(text.length / Math.ceil(text.length / (most * 0.8)));
  const parts: string[] = [];
  for (const unit of unitsOf(text, most)) {
    const last = parts.at(-1);
    const isFull = last === undefined || last.length >= aim || last.length + unit.length > most;
    if (isFull) parts.push(unit);
    else parts[parts.length - 1] = last + unit;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

/** Sentences with the space after them; of one that is too long its words, and of a word that is its characters. */
function unitsOf(text: string, most: number): string[] {
  const sentences = text.match(/[^.!?…。！？\n]*[.!?…。！？\n]*\s*/g) ?? [];
  return sentences.flatMap((sentence) => {
    if (sentence.length <= most) return [sentence];
    const words = sentence.match(/\S*\s*/g) ?? [];
    return words.flatMap((word) => (word.length <= most ? [word] : charactersOf(word, most)));
  });
}

function charactersOf(word: string, most: number): string[] {
  const characters = [...word];
  const size = Math.floor(most / 2);
  return Array.from({ length: Math.ceil(characters.length / size) }, (_, at) =>
    characters.slice(at * size, (at + 1) * size).join(''),
  );
}
