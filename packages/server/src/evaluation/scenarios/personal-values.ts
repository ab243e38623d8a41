export type PersonalValue = {
  kind: 'user' | 'email' | 'phone' | 'card' | 'iban' | 'other';
  value: string;
  fields: string[];
};

const patterns: readonly [PersonalValue['kind'], RegExp, (found: string) => boolean][] = [
  ['email', /[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu, () => true],
  ['iban', /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])/g, isIban],
  ['card', /(?<![\d-])\d(?:[ -]?\d){12,18}(?![\d-])/g, isCardNumber],
  // Requires a leading plus or zero: other numbers of that length may be order numbers.
  ['phone', /(?<![\p{L}\p{N}.+-])(?:\+|\(?0)\d?(?:[ ()/.-]{0,2}\d){6,14}(?![\p{L}\p{N}-])/gu, () => true],
];

/**
 * Finds personal values in texts: those with a recognisable form, and those in `known`. An unknown name looks like any
 * other word.
 */
export function personalValues(
  texts: Readonly<Record<string, string>>,
  known: readonly { kind: PersonalValue['kind']; value: string }[],
): PersonalValue[] {
  const found = new Map<string, PersonalValue>();
  const note = (field: string, kind: PersonalValue['kind'], value: string) => {
    if (found.size === maxFound && !found.has(value)) return;
    const before = found.get(value) ?? { kind, value, fields: [] };
    if (!before.fields.includes(field)) before.fields.push(field);
    found.set(value, before);
  };
  for (const [field, text] of Object.entries(texts)) {
    for (const { kind, value } of known) if (hasWord(text, value)) note(field, kind, value);
    for (const [kind, pattern, isOne] of patterns) {
      for (const [value] of text.matchAll(pattern)) {
        const isPartOfAnother = [...found.keys()].some((other) => other !== value && other.includes(value));
        if (isOne(value) && !isPartOfAnother) note(field, kind, value);
      }
    }
  }
  return [...found.values()];
}

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

/** More than fifty findings would not help the reader. */
const maxFound = 50;
const shortest = 3;

/** Matches whole words only: `ada` is not in `Canada`. */
function hasWord(text: string, value: string): boolean {
  if (value.length < shortest) return false;
  const isOfWord = (character: string | undefined) => character !== undefined && /[\p{L}\p{N}]/u.test(character);
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) {
    if (!isOfWord(text[at - 1]) && !isOfWord(text[at + value.length])) return true;
  }
  return false;
}

/** Checks the ISO 13616 check digits. */
function isIban(text: string): boolean {
  const plain = text.replaceAll(' ', '');
  const turned = `${plain.slice(4)}${plain.slice(0, 4)}`;
  const digits = turned.replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
  return plain.length >= 15 && BigInt(digits) % 97n === 1n;
}

/** Checks the Luhn digit. */
function isCardNumber(text: string): boolean {
  const digits = [...text.replace(/\D/g, '')].reverse().map(Number);
  const sum = digits.reduce((total, digit, at) => {
    const counted = at % 2 === 0 ? digit : digit * 2;
    return total + (counted > 9 ? counted - 9 : counted);
  }, 0);
  return sum % 10 === 0;
}
