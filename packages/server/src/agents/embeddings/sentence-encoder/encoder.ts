import { mostPieces } from './graph.ts';
import { readVocabulary } from './weights.ts';
import { createWordPieces } from './word-pieces.ts';

/** Vectors for rows of word pieces, each of at least one and at most `mostPieces`. Their length may be any. */
export type EncodePieces = (rows: readonly (readonly number[])[]) => Promise<Float32Array[]>;

/**
 * Texts to vectors of length 1. A text of more word pieces than the encoder reads is cut into parts of about the same
 * length, and gets the mean of theirs.
 */
export function createEncoder(encodePieces: EncodePieces): (texts: readonly string[]) => Promise<Float32Array[]> {
  const piecesOf = createWordPieces(readVocabulary());
  return async (texts) => {
    const parts = texts.map((text) => partsOf(piecesOf(text)));
    const vectors = (await encodePieces(parts.flat())).map(unit);
    return parts.map(({ length }) => mean(vectors.splice(0, length)));
  };
}

function partsOf(pieces: readonly number[]): number[][] {
  const count = Math.ceil(pieces.length / mostPieces);
  const size = Math.ceil(pieces.length / count);
  return Array.from({ length: count }, (_, at) => pieces.slice(at * size, (at + 1) * size));
}

function mean(vectors: readonly Float32Array[]): Float32Array {
  const [first, ...rest] = vectors as [Float32Array, ...Float32Array[]];
  if (rest.length === 0) return first;
  return unit(first.map((value, at) => rest.reduce((sum, vector) => sum + (vector[at] as number), value)));
}

function unit(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
}
