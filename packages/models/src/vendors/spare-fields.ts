import { type JsonRecord, recordOf } from './wires/json.ts';
import type { SpareField } from './wires/wire.ts';

type SpareFields = Readonly<Record<string, SpareField>>;

/** Removes or renames the fields that an endpoint rejected. */
export function withoutFields(body: object, fields: Iterable<string>, spare: SpareFields): object {
  let result: unknown = body;
  for (const name of fields) {
    const { paths, renamedTo } = spare[name] ?? { paths: [] };
    for (const path of paths) result = changedAt(result, path.split('.'), renamedTo);
  }
  return result as object;
}

/** Copies only the objects on the path: the request may be sent again in another form. */
function changedAt(value: unknown, [step = '', ...rest]: readonly string[], renamedTo: string | undefined): unknown {
  if (step === '*') return Array.isArray(value) ? value.map((each) => changedAt(each, rest, renamedTo)) : value;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return value;
  const { [step]: field, ...others } = value as JsonRecord;
  if (rest.length > 0) return { ...(value as JsonRecord), [step]: changedAt(field, rest, renamedTo) };
  return renamedTo === undefined ? others : { ...others, [renamedTo]: field };
}

const hasAt = (value: unknown, [step, ...rest]: readonly string[]): boolean => {
  if (step === undefined) return true;
  if (step === '*') return Array.isArray(value) && value.some((each) => hasAt(each, rest));
  return Object.hasOwn(recordOf(value), step) && hasAt(recordOf(value)[step], rest);
};

/** Returns the spare field of the body that a rejection names; null if it names none. */
export function fieldNamedIn(
  { words, param }: { words: string; param: string },
  body: object,
  spare: SpareFields,
): string | null {
  const sent = Object.keys(spare).filter((name) => spare[name]?.paths.some((path) => hasAt(body, path.split('.'))));
  return sent.find((name) => isNamed(name, words, param) || spare[name]?.named?.test(words)) ?? null;
}

/** A name such as `include` is also a word, so it must be in quotes or at an end of a path. */
function isNamed(name: string, words: string, param: string): boolean {
  const steps = param.split(/[.[\]]+/).filter(Boolean);
  if (steps[0] === name || steps.at(-1) === name) return true;
  if (name.includes('_')) return new RegExp(`(?<![\\w])${name}(?!\\w)`).test(words);
  const path = `(?:(?:[\\w.[\\]]+\\.)?${name}|${name}[.[][\\w.[\\]]*)`;
  return new RegExp(`['"\`]${path}['"\`]|(?:^|\\s)${path}: `).test(words);
}
