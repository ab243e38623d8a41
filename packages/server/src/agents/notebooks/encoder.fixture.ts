import type { Embeddings } from '../embeddings/embeddings.ts';

/** An encoder for tests: texts with the same letters are near each other. It records the texts it embedded. */
export function encoderOf(given: Partial<Embeddings> & { before?: (texts: readonly string[]) => Promise<void> } = {}) {
  const { before = async () => {}, ...others } = given;
  const embedded: string[] = [];
  const embeddings: Embeddings = {
    model: 'by-letters',
    dimensions: 26,
    languages: 'every',
    understands: () => true,
    pieces: (text) => [text],
    leastSimilarity: async () => 0.7,
    async embed(texts, { signal } = {}) {
      await before(texts);
      signal?.throwIfAborted();
      embedded.push(...texts);
      return texts.map(vectorOf);
    },
    ...others,
  };
  return { embeddings, embedded };
}

export function vectorOf(text: string): Float32Array {
  const vector = new Float32Array(26);
  for (const letter of text.toLowerCase()) {
    const at = letter.charCodeAt(0) - 97;
    if (at >= 0 && at < 26) vector[at] = (vector[at] as number) + 1;
  }
  return vector;
}
