import { numberOf, type SchemaNode } from './schema-node.ts';
import { textOfPattern } from './text-of-pattern.ts';

/** Used if nothing is known: a neutral word. */
const unknownText = 'unknown';

const formatted: Record<string, (salt: number) => string> = {
  date: (salt) => `2000-01-${String((salt % 28) + 1).padStart(2, '0')}`,
  'date-time': (salt) => `2000-01-01T00:00:${String(salt % 60).padStart(2, '0')}Z`,
  time: (salt) => `00:00:${String(salt % 60).padStart(2, '0')}Z`,
  email: (salt) => `unknown${salt || ''}@example.com`,
  uri: (salt) => `https://example.com/${salt || ''}`,
  'uri-reference': (salt) => `/${salt || ''}`,
  url: (salt) => `https://example.com/${salt || ''}`,
  uuid: (salt) => `00000000-0000-4000-8000-${String(salt).padStart(12, '0')}`,
  ipv4: (salt) => `192.0.2.${salt % 255}`,
  ipv6: (salt) => `2001:db8::${salt + 1}`,
  hostname: (salt) => `example${salt || ''}.com`,
  duration: (salt) => `PT${salt}S`,
  regex: (salt) => 'a'.repeat(salt + 1),
  'json-pointer': (salt) => `/${salt || ''}`,
};

/** Texts to try, best first. `salt` makes the items of a list differ. */
export function* textCandidates(schema: SchemaNode, salt: number): Generator<string> {
  const shortest = numberOf(schema.minLength) ?? 0;
  const longest = numberOf(schema.maxLength) ?? Infinity;
  const format = typeof schema.format === 'string' ? formatted[schema.format] : undefined;
  if (format) yield format(salt);
  if (typeof schema.pattern === 'string') {
    for (const extra of [salt, 0, 1, 2, 3, 5, 8, shortest, shortest - 1, Math.ceil(shortest / 2)]) {
      const text = textOfPattern(schema.pattern, Math.max(0, extra));
      if (text !== null) yield text;
    }
  }
  const base = salt === 0 ? unknownText : `${salt}${unknownText}`;
  yield [...base].slice(0, longest).join('').padEnd(shortest, 'x');
  yield [...String.fromCharCode(97 + (salt % 26))].slice(0, longest).join('').padEnd(shortest, 'x');
  yield ''.padEnd(shortest, 'y');
}

export function* numberCandidates(schema: SchemaNode, isWhole: boolean, salt: number): Generator<number> {
  const least = Math.max(numberOf(schema.minimum) ?? -Infinity, numberOf(schema.exclusiveMinimum) ?? -Infinity);
  const most = Math.min(numberOf(schema.maximum) ?? Infinity, numberOf(schema.exclusiveMaximum) ?? Infinity);
  const step = numberOf(schema.multipleOf) ?? (isWhole ? 1 : null);
  const start = least > 0 || most < 0 ? (Number.isFinite(least) ? least : most) : 0;
  if (step !== null) {
    const direction = start === most && start !== least ? -1 : 1;
    const nearest = direction > 0 ? Math.ceil(start / step) : Math.floor(start / step);
    for (let offset = 0; offset < 12; offset++) yield (nearest + direction * (salt + offset)) * step;
    for (let offset = 0; offset < 12; offset++) yield (nearest - direction * (salt + offset)) * step;
    return;
  }
  yield start + salt;
  yield start - salt;
  if (Number.isFinite(least) && Number.isFinite(most)) {
    yield least + ((most - least) * (salt + 1)) / (salt + 2);
    yield most;
  }
  yield start + salt + 1;
  yield start - salt - 1;
}
