/** No shape of an endpoint's data is trusted: a missing field or one of another type reads as an empty one. */
export type JsonRecord = Record<string, unknown>;

const empty: JsonRecord = Object.freeze({});

export const recordOf = (value: unknown): JsonRecord =>
  typeof value === 'object' && value !== null ? (value as JsonRecord) : empty;

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Counts determine prices, so negative, infinite and fractional values become 0. */
export const countOf = (value: unknown): number =>
  Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : 0;

export const base64Of = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');

export const dataUrlOf = (mediaType: string, bytes: Uint8Array): string =>
  `data:${mediaType};base64,${base64Of(bytes)}`;
