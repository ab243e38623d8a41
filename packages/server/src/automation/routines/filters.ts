import { isDeepStrictEqual } from 'node:util';

/** Whether a payload carries each named field with exactly its value; other fields are free. */
export function passesFilters(
  filters: Readonly<Record<string, unknown>> | null,
  payload: Readonly<Record<string, unknown>>,
): boolean {
  return Object.entries(filters ?? {}).every(
    ([field, value]) => Object.hasOwn(payload, field) && isDeepStrictEqual(asJson(payload[field]), asJson(value)),
  );
}

/** As it is written: `-0` and `0` are one number there. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
