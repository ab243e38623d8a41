/**
 * What a JSON Schema may cost. Compiling takes about 0.1 ms for each schema within it, 0.6 ms for each pattern, and for
 * `oneOf` and the unevaluated keywords the square of their number: with these limits about 50 ms at worst, measured on
 * the schemas of 32 KB that take longest, which took 4 s without.
 */
export const limits = {
  schema: { depth: 32, bytes: 128 * 1024 },
  subschemas: 500,
  rules: 1500,
  subschemasLookedAround: 150,
  choices: 150,
  patterns: 64,
  /** Of all patterns together, in characters and in instructions. */
  patternLength: 4000,
  patternSize: 5000,
  value: { depth: 64, bytes: 256 * 1024 },
  /** Steps of one check, each some 50 to 100 ns. */
  steps: 600_000,
  /** Steps of the second look that collects more than the first error. */
  stepsForErrors: 100_000,
};
