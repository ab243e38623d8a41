/**
 * The limits of a JSON Schema. Compiling takes about 0.1 ms per subschema and 0.6 ms per pattern, and grows with the
 * square for `oneOf` and the unevaluated keywords. With these limits the slowest schemas of 32 KB take about 50 ms;
 * without them they took 4 s.
 */
export const limits = {
  schema: { depth: 32, bytes: 128 * 1024 },
  subschemas: 500,
  rules: 1500,
  subschemasLookedAround: 150,
  choices: 150,
  patterns: 64,
  /** For all patterns together, in characters and in instructions. */
  patternLength: 4000,
  patternSize: 5000,
  value: { depth: 64, bytes: 256 * 1024 },
  /** The steps of one check, of 50 to 100 ns each. */
  steps: 600_000,
  /** The steps of the second check, which collects more than the first error. */
  stepsForErrors: 100_000,
};

/**
 * Whether a value is too deep or too large; null if it is neither. It stops at the limit, so that a huge value costs no
 * more.
 */
export function excessOf(value: unknown, { depth, bytes }: { depth: number; bytes: number }): 'depth' | 'bytes' | null {
  let left = bytes;

  function walk(inner: unknown, level: number): 'depth' | 'bytes' | null {
    left -= ownBytes(inner);
    if (left < 0) return 'bytes';
    if (typeof inner !== 'object' || inner === null) return null;
    if (level === depth) return 'depth';
    if (Array.isArray(inner)) {
      for (const each of inner) {
        const excess = walk(each, level + 1);
        if (excess !== null) return excess;
      }
      return null;
    }
    for (const key in inner) {
      if (!Object.hasOwn(inner, key)) continue;
      left -= ownBytes(key) + 1;
      const excess = walk((inner as Record<string, unknown>)[key], level + 1);
      if (excess !== null) return excess;
    }
    return null;
  }

  return walk(value, 0);
}

/** The approximate size as JSON, including brackets and the comma after it. */
function ownBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value) + 3;
  if (typeof value === 'object' && value !== null) return 3;
  return String(value).length + 1;
}
