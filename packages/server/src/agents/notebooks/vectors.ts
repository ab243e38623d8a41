/**
 * Vectors as they are stored: one signed byte for each number, one vector after the other. A quarter of the size, and
 * measured on the recall set of `memory` no question finds less than with the numbers themselves.
 */
export function packVectors(vectors: readonly Float32Array[]): Buffer {
  const dimensions = vectors[0]?.length ?? 0;
  const packed = new Int8Array(dimensions * vectors.length);
  vectors.forEach((vector, at) => {
    const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    if (largest === 0) return;
    packed.set(
      vector.map((value) => Math.round((value / largest) * 127)),
      at * dimensions,
    );
  });
  return Buffer.from(packed.buffer);
}

/** The cosine of the angle between the query and each packed vector; 0 for a vector without direction. */
export function similarities(query: Float32Array, packed: Uint8Array): number[] {
  const dimensions = query.length;
  const values = new Int8Array(packed.buffer, packed.byteOffset, packed.byteLength);
  const length = Math.sqrt(query.reduce((sum, value) => sum + value * value, 0));
  return Array.from({ length: Math.floor(values.length / dimensions) }, (_, at) => {
    const from = at * dimensions;
    let product = 0;
    let square = 0;
    for (let axis = 0; axis < dimensions; axis++) {
      const value = values[from + axis] as number;
      product += value * (query[axis] as number);
      square += value * value;
    }
    return square === 0 || length === 0 ? 0 : product / (Math.sqrt(square) * length);
  });
}
