import type { z } from 'zod';

/** Replaces the validator's messages for programmers with plain sentences. A message of the schema itself wins. */
export const explain: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      return wrongKind(issue.expected, issue.input);
    case 'invalid_value':
      return issue.values.length === 1 ? `Must be ${quoted(issue.values)}.` : `Must be one of ${quoted(issue.values)}.`;
    case 'too_small':
      return bound(issue.origin, issue.minimum, issue.inclusive === false ? 'more than' : 'at least');
    case 'too_big':
      return bound(issue.origin, issue.maximum, issue.inclusive === false ? 'less than' : 'at most');
    case 'not_multiple_of':
      return `Must be a multiple of ${issue.divisor}.`;
    case 'invalid_format':
      return formats[issue.format] ?? 'Does not have the expected form.';
    case 'invalid_key':
      return 'A name in this object does not have the expected form.';
    case 'invalid_element':
      return 'An entry does not have the expected form.';
    case 'invalid_union':
      return 'Does not have an accepted form.';
    default:
      return undefined;
  }
};

function wrongKind(expected: string, input: unknown): string {
  if (input === undefined) return 'This field is required.';
  const wanted = kinds[expected] ?? expected;
  const given = kindOf(input);
  return wanted === given || (expected === 'int' && typeof input === 'number')
    ? `Must be ${wanted}.`
    : `Must be ${wanted}, not ${given}.`;
}

const kinds: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: '`true` or `false`',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

const kindOf = (input: unknown): string =>
  kinds[input === null ? 'null' : Array.isArray(input) ? 'array' : typeof input] ?? 'this value';

const quoted = (values: readonly unknown[]) => values.map((value) => `\`${String(value)}\``).join(', ');

const formats: Readonly<Record<string, string>> = {
  url: 'Must be a URL such as https://example.com/path.',
  email: 'Must be an email address.',
  datetime: 'Must be a time such as 2026-01-31T09:00:00Z.',
  date: 'Must be a date such as 2026-01-31.',
};

const counted: Readonly<Record<string, string>> = {
  string: 'characters',
  array: 'entries',
  set: 'entries',
  map: 'entries',
};

/** `size` counts characters or entries, and is the value itself for a number. */
function bound(origin: string, size: number | bigint, limit: string): string {
  const unit = counted[origin];
  const words = unit && Number(size) === 1 ? unit.replace(/ies$/, 'y').replace(/s$/, '') : unit;
  return words ? `Must have ${limit} ${size} ${words}.` : `Must be ${limit} ${size}.`;
}
