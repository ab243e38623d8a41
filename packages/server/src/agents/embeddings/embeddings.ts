/** Turns texts into vectors. The angle of two vectors shows how near their texts are in meaning. */
export type Embeddings = {
  /** Stored with every vector: vectors of different models or sizes are not comparable. */
  model: string;
  dimensions: number;
  /** PostgreSQL text search configurations of the languages it reads. `simple` is for texts too short to tell. */
  languages: readonly string[] | 'every';
  /** True if the model can read the text. All unreadable texts look alike to it. */
  understands: (text: string) => boolean;
  /**
   * Cuts a text into pieces that the model reads completely, one for most texts. Store one vector per piece: a text is
   * as near as its nearest piece.
   */
  pieces: (text: string) => string[];
  /**
   * Returns one vector of length 1 per text, in order. A text without a letter or digit gets zeros, a text of several
   * pieces their mean. Throws `EmbeddingsFailure`, or the reason of `signal`.
   */
  embed: (texts: readonly string[], options?: EmbedOptions) => Promise<Float32Array[]>;
  /**
   * The similarity below which a text is unrelated to the query. It differs by model: some rate any two texts 0.6,
   * others 0. Throws like `embed`.
   */
  leastSimilarity: (options?: { query?: string; signal?: AbortSignal }) => Promise<number>;
};

export type EmbedOptions = {
  signal?: AbortSignal;
  /** A person waits for a `query`, the default, so it goes before all indexing. */
  urgency?: 'query' | 'index';
};

export class EmbeddingsFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'EmbeddingsFailure';
  }
}

/**
 * Cuts a text into parts of at most `most` characters and similar length, at sentences if possible, else at words.
 * Equal lengths avoid a short last part with little meaning.
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

/**
 * Returns sentences with the space after them. A sentence that is too long is split into words, a word that is too long
 * into parts.
 */
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
