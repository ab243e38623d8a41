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

/** Text without NUL, line breaks and other control characters, as a path may carry it. */
export const plainText = (min: number, max: number) =>
  text(min, max).regex(/^\P{Cc}*$/u, 'Must have no control characters.');

/** A code point is one or two UTF-16 units, so most texts need no counting: a batch may contain 30 MB of them. */
function isWithin(value: string, min: number, max: number): boolean {
  const { length } = value;
  if (length < min || length > max * 2) return false;
  if (length <= max && length / 2 >= min) return true;
  let count = 0;
  for (const _ of value) count++;
  return count >= min && count <= max;
}
