/** The size of a value as compact JSON in UTF-8: how the contract counts what it limits in KB. */
export const jsonBytes = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).byteLength;
