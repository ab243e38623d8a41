import { z } from 'zod';

/** A text of `min` to `max` characters. A character is a Unicode code point, so an emoji counts once. */
export const text = (min: number, max: number) =>
  z
    .string()
    .refine((value) => isWithin(value, min, max), {
      error: min === 0 ? `Must have at most ${max} characters.` : `Must have ${min} to ${max} characters.`,
      abort: true,
    })
    .meta(min === 0 ? { maxLength: max } : { minLength: min, maxLength: max });

function isWithin(value: string, min: number, max: number): boolean {
  // A code point is one or two UTF-16 units: a text twice too long needs no counting.
  if (value.length > max * 2) return false;
  let count = 0;
  for (const _ of value) count++;
  return count >= min && count <= max;
}
