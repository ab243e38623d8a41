/** What is used of onnxruntime-node, which is an optional package and brings no types. */
export type Tensor = { data: Float32Array };
type Session = { run: (inputs: Record<string, object>) => Promise<Record<string, Tensor>> };
export type Runtime = {
  InferenceSession: { create: (model: Uint8Array, options: Record<string, unknown>) => Promise<Session> };
  Tensor: new (
    type: 'int64' | 'float32' | 'bool',
    values: BigInt64Array | Float32Array | readonly boolean[],
    shape: readonly number[],
  ) => Tensor;
};

/**
 * One thread: a second one waits in a loop for its next share, and costs half as much again. All optimisations take half a
 * second longer to load and make nothing faster. Only errors are told: the models hold parts that the runtime removes, each
 * with a line.
 */
export const sessionOptions = {
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  executionMode: 'sequential',
  graphOptimizationLevel: 'basic',
  logSeverityLevel: 3,
};

export async function openRuntime(module: string): Promise<Runtime> {
  return (await import(module)).default;
}

/**
 * The runtime reads the format up to version 9. Version 10 differs in types of numbers that none of these models has, so
 * that the number of the version, the second byte of a file, is all that keeps them apart.
 */
export function readableModel(bytes: Uint8Array): Uint8Array {
  if (bytes[0] === 8 && bytes[1] === 10) bytes[1] = 9;
  return bytes;
}
