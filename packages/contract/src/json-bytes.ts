/** The size of a value as compact JSON in UTF-8, which is how the contract measures KB. */
export const jsonBytes = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).byteLength;
