import type { PersonalValue } from '../scenarios/personal-values.ts';

const replacements: Readonly<Record<PersonalValue['kind'], string>> = {
  user: 'the person',
  email: 'person@example.com',
  phone: '+1 555 0100',
  card: '[card number]',
  iban: '[account number]',
  other: '[removed]',
};

/** Replaces the values in every text of a JSON value, also in the keys of objects. Longer values go first. */
export function replacePersonalValues<Value>(
  value: Value,
  found: readonly Pick<PersonalValue, 'kind' | 'value'>[],
): Value {
  const pairs = found
    .filter(({ value: text }) => text.trim().length >= shortest)
    .toSorted((one, other) => other.value.length - one.value.length)
    .map(({ kind, value: text }) => [wordPattern(text), replacements[kind]] as const);
  return replaced(value, pairs) as Value;
}

const shortest = 3;

/** Whole words only, in any case: `Ada` is not in `Canada`. */
const wordPattern = (text: string) =>
  new RegExp(`(?<![\\p{L}\\p{N}])${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\p{L}\\p{N}])`, 'giu');

type Pairs = readonly (readonly [RegExp, string])[];

function replaced(value: unknown, pairs: Pairs): unknown {
  if (typeof value === 'string')
    return pairs.reduce((text, [pattern, other]) => text.replace(pattern, () => other), value);
  // A number that is a personal value, such as an account number in a tool result.
  if (typeof value === 'number') {
    const text = replaced(String(value), pairs);
    return text === String(value) ? value : text;
  }
  if (Array.isArray(value)) return value.map((each) => replaced(each, pairs));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [replaced(key, pairs) as string, replaced(each, pairs)]),
  );
}
