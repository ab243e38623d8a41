import type { JsonSchema } from '@vestra/agent/message';
import type { Facts } from './facts.ts';
import { fits } from './schema/fits.ts';
import { listOf, nodeOf, resolved, type SchemaNode, typesOf } from './schema/schema-node.ts';
import { stemsOf } from './words.ts';

/** Fills arguments from the conversation and returns the required ones that are missing. */
export function fillArguments(
  schema: JsonSchema,
  facts: Facts,
  request: string,
): { filled: Record<string, unknown>; missing: string[] } {
  const properties = nodeOf(schema.properties);
  const required = listOf(schema.required).map(String);
  const taken = new Set<string>();
  const filled = new Map<string, unknown>();
  // Required first: a unique value belongs to them.
  const names = [...new Set([...required, ...Object.keys(properties)])];
  for (const name of names) {
    const property = resolved(nodeOf(properties[name]), schema);
    const value = valueFor(name, property, facts, {
      root: schema,
      taken,
      isRequired: required.includes(name),
      request,
    });
    if (value === undefined) continue;
    filled.set(name, value);
    taken.add(String(value));
  }
  return { filled: Object.fromEntries(filled), missing: required.filter((name) => !filled.has(name)) };
}

/** `taken`: values already used, as text. An order number is not an amount. */
type Search = { root: SchemaNode; taken: Set<string>; isRequired: boolean; request: string };

/** The first candidate that the schema allows; undefined if none fits. */
export function valueFor(name: string, schema: SchemaNode, facts: Facts, search: Search): unknown {
  for (const candidate of candidates(name, schema, facts, search)) {
    const value = asType(candidate, schema);
    if (
      value !== undefined &&
      !(search.taken.has(String(value)) && typeof value !== 'boolean') &&
      fits(schema, value, search.root)
    ) {
      return value;
    }
  }
  return undefined;
}

function* candidates(name: string, schema: SchemaNode, facts: Facts, search: Search): Generator<unknown> {
  const words = name
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
  if ('const' in schema) yield schema.const;
  if (facts.fields.has(name.toLowerCase())) yield facts.fields.get(name.toLowerCase());
  yield* stated(words, facts.text);
  if (Array.isArray(schema.enum)) {
    const said = new Set(stemsOf(facts.text));
    for (const option of schema.enum) {
      const stems = stemsOf(String(option));
      if (stems.length > 0 && stems.every((each) => said.has(each))) yield option;
    }
    if (search.isRequired && schema.enum.length === 1) yield schema.enum[0];
  }
  yield* byKind(words, schema, facts, search);
  if (search.isRequired && facts.earlierFields.has(name.toLowerCase()))
    yield facts.earlierFields.get(name.toLowerCase());
  if ('default' in schema && search.isRequired) yield schema.default;
}

/** `city: Oslo`, `amount = 5`, `order number 1234`, `from Paris`. */
function* stated(words: string[], text: string): Generator<string> {
  const [first = ''] = words.filter((word) => !['id', 'number', 'no', 'name', 'code', 'the'].includes(word));
  const full = words.map(escaped).join('[ _-]?');
  const value = `(?:"([^"\\n]+)"|“([^”\\n]+)”|([^\\s,;"“]+))`;
  const patterns = [`\\b${full}\\s*(?::|=|\\bis\\b)\\s*${value}`];
  if (first) {
    patterns.push(`\\b${escaped(first)}\\s*(?:id|number|no\\.?|code|name)?\\s*(?::|=|\\bis\\b|#)\\s*${value}`);
    patterns.push(`\\b${escaped(first)}\\s+(?:id|number|no\\.?|code)?\\s*([#\\w-]*\\d[\\w-]*)`);
  }
  for (const pattern of patterns) {
    const match = new RegExp(pattern, 'iu').exec(text);
    const found = match?.slice(1).find((group) => group !== undefined);
    if (found) yield found.replace(/^#/, '').replace(/[.?!]{1,20}$/, '');
  }
}

const placeWords = /^(city|location|place|destination|country|town|region|address|to|where)$/;
const openWords =
  /^(query|q|question|search|keywords?|text|message|content|description|reason|note|body|prompt|task|instructions?|goal|request|fact|details|summary|input)$/;

function* byKind(
  words: string[],
  schema: SchemaNode,
  facts: Facts,
  { isRequired, request }: Search,
): Generator<unknown> {
  const types = typesOf(schema);
  const hint = [
    ...words,
    ...String(schema.description ?? '')
      .toLowerCase()
      .split(/\W+/),
  ];
  const says = (...wanted: string[]) => wanted.some((word) => hint.includes(word));
  if (types.includes('boolean')) yield* yesOrNo(words, facts.text);
  if (types.includes('array')) return yield listFor(words, schema, facts);
  if (types.includes('number') || types.includes('integer'))
    return yield* isRequired || says('amount', 'count', 'limit', 'quantity') ? facts.numbers : [];
  if (!types.includes('string') && types.length > 0) return;
  if (schema.format === 'email' || words.includes('email')) return yield* facts.emails;
  if (schema.format === 'uri' || says('url', 'link', 'website')) return yield* facts.urls;
  if (schema.format === 'date' || schema.format === 'date-time' || words.includes('date') || words.includes('day')) {
    yield* facts.dates;
    for (const date of facts.dates) yield `${date}T00:00:00Z`;
    return;
  }
  if (schema.pattern) yield* [...facts.ids, ...facts.numbers.map(String), ...facts.text.split(/[\s,;]+/)];
  if (!isRequired) return;
  const [last = ''] = words.slice(-1);
  if (says('id', 'identifier', 'number', 'reference', 'code', 'sku'))
    return yield* [...facts.ids, ...facts.numbers.map(String)];
  yield* facts.quoted;
  if (placeWords.test(last))
    yield* after(/\b(?:in|to|for|at|near|from) (\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+)*)/u, facts.text);
  if (last === 'from' || last === 'origin')
    yield* after(/\bfrom (\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+)*)/u, facts.text);
  if (openWords.test(last)) return yield request;
  if (placeWords.test(last) || says('name', 'person', 'customer', 'company', 'city')) yield* facts.names;
}

function* after(pattern: RegExp, text: string): Generator<string> {
  const found = pattern.exec(text)?.[1];
  if (found) yield found;
}

function* yesOrNo(words: string[], text: string): Generator<boolean> {
  const named = words
    .filter((word) => word !== 'is' && word !== 'has')
    .map(escaped)
    .join('[ _-]');
  if (new RegExp(`\\b(no|not|without|don't|do not)\\s+(?:\\w+ )?${named}`, 'iu').test(text)) yield false;
  if (new RegExp(`\\b${named}`, 'iu').test(text)) yield true;
}

function listFor(words: string[], schema: SchemaNode, facts: Facts): unknown {
  const items = nodeOf(schema.items);
  const types = typesOf(items);
  if (types.includes('number') || types.includes('integer')) return nonEmpty(facts.numbers);
  if (items.format === 'email' || words.some((word) => word.startsWith('email'))) return nonEmpty(facts.emails);
  if (Array.isArray(items.enum)) {
    const said = new Set(stemsOf(facts.text));
    return nonEmpty(items.enum.filter((option) => stemsOf(String(option)).every((each) => said.has(each))));
  }
  if (words.some((word) => word === 'ids' || word === 'id')) return nonEmpty(facts.ids);
  return nonEmpty(facts.quoted);
}

const nonEmpty = (list: readonly unknown[]) => (list.length > 0 ? list : undefined);

/** Converts text to a number if a number is expected, and vice versa. */
function asType(value: unknown, schema: SchemaNode): unknown {
  const types = typesOf(schema);
  if (types.length === 0 || value === undefined) return value;
  if (typeof value === 'string' && !types.includes('string')) {
    if (types.includes('number') || types.includes('integer')) {
      const number = Number(value.replace(/[$€£,]/g, ''));
      return value.trim() === '' || Number.isNaN(number) ? undefined : number;
    }
    if (types.includes('boolean'))
      return /^(true|yes|on)$/i.test(value) ? true : /^(false|no|off)$/i.test(value) ? false : undefined;
    return undefined;
  }
  if (typeof value === 'number' && !types.includes('number') && !types.includes('integer')) {
    return types.includes('string') ? String(value) : undefined;
  }
  return value;
}

const escaped = (word: string) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
