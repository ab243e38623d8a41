import { type RouteRow, routes } from '@vestra/contract/api';
import { type JsonSchema, toJsonSchema } from '@vestra/contract/derive/json-schema';
import { bodyLimitOf, type Route, sessionAccessOf } from '@vestra/contract/route';

/**
 * Fails with the route and the field if a part of a request has no maximum, if the limit of a body does not fit, or if a
 * path may carry a character that PostgreSQL does not store.
 */

const kib = 1024;
const mostWithoutKey = 16 * kib;
/** Enough for any encoding of a message. */
const mostOfSession = 512 * kib;
/** A larger body would be in memory several times while it is parsed. */
const mostOfKey = 32 * kib * kib;

/** The most that a column of type integer holds. */
const mostOfInteger = 2 ** 31 - 1;

/**
 * Formats of other vendors. Their texts have the limits of the native request that they are translated to. Until then
 * only the limit of the body applies.
 */
const formatsOfOthers: readonly string[] = ['openai', 'agUi', 'protocols'];

/** One sentence per fault, with the name of the route. */
export const faultsOfRequests = (rows: readonly Pick<RouteRow, 'name' | 'family' | 'route'>[]): string[] =>
  rows.flatMap(({ name, family, route }) => {
    const hasFreeTexts = formatsOfOthers.includes(family);
    const parts = { params: route.params, query: route.query, body: route.body, edgeBody: route.edgeBody };
    const ofSchemas = Object.entries(parts).flatMap(([part, schema]) => {
      if (!schema) return [];
      const root = toJsonSchema(schema, 'input');
      return faultsBelow(root, [part], { root, hasFreeTexts, largest: bodyLimitOf(route, { session: false }) });
    });
    return [...new Set([...ofSchemas, ...faultsOfPath(route), ...faultsOfBody(route)])].map(
      (sentence) => `${name}: ${sentence}`,
    );
  });

type Walk = { root: JsonSchema; hasFreeTexts: boolean; largest: number };

function faultsBelow(schema: unknown, path: readonly string[], walk: Walk, above: readonly unknown[] = []): string[] {
  if (typeof schema !== 'object' || schema === null || above.includes(schema)) return [];
  const given = schema as JsonSchema;
  const deeper = (part: unknown, ...steps: string[]) =>
    faultsBelow(part, [...path, ...steps], walk, [...above, schema]);
  if (typeof given.$ref === 'string') return deeper(resolve(given.$ref, walk.root));
  const names = isRecord(given) ? (given.propertyNames ?? { type: 'string' }) : null;
  return [
    ...faultsAt(given, path.join('.'), walk),
    ...['anyOf', 'oneOf', 'allOf'].flatMap((key) => listAt(given, key).flatMap((part) => deeper(part))),
    ...[given.items, ...listAt(given, 'prefixItems')].flatMap((part) => deeper(part, '[]')),
    ...Object.entries((given.properties as JsonSchema) ?? {}).flatMap(([step, part]) => deeper(part, step)),
    ...[names, given.additionalProperties].flatMap((part) => deeper(part, '*')),
  ];
}

const listAt = (schema: JsonSchema, key: string) => (schema[key] as unknown[] | undefined) ?? [];

const resolve = (ref: string, root: JsonSchema): unknown =>
  ref
    .split('/')
    .slice(1)
    .reduce<unknown>((at, step) => (at as JsonSchema)[step], root);

function faultsAt(schema: JsonSchema, path: string, { hasFreeTexts, largest }: Walk): string[] {
  if (schema.enum !== undefined || schema.const !== undefined) return [];
  if (schema.type === 'array' && schema.maxItems === undefined) return [`the array \`${path}\` has no maximum.`];
  if (isRecord(schema) && schema.maxProperties === undefined) return [`the record \`${path}\` has no maximum.`];
  if (schema.type === 'integer' || schema.type === 'number') {
    const isBounded = hasFreeTexts || Number(schema.maximum ?? schema.exclusiveMaximum) <= mostOfInteger;
    return isBounded ? [] : [`the number \`${path}\` may exceed ${mostOfInteger}.`];
  }
  if (schema.type !== 'string') return [];
  const { maxLength, pattern } = schema;
  if (typeof maxLength === 'number') {
    if (maxLength <= largest) return [];
    return [`\`${path}\` may have ${maxLength} characters, but the body only ${largest} bytes.`];
  }
  const hasLimit = schema.format === 'date' || (typeof pattern === 'string' && isLimitedPattern(pattern));
  return hasLimit || hasFreeTexts ? [] : [`the string \`${path}\` has no maximum.`];
}

/** A record of any JSON is not one: the limits of the body bound it, in bytes, values, names and depth. */
const isRecord = ({ type, additionalProperties: more }: JsonSchema) =>
  type === 'object' && typeof more === 'object' && more !== null && Object.keys(more).length > 0;

/** Whether the pattern is anchored at both ends and repeats nothing without a bound. */
export function isLimitedPattern(pattern: string): boolean {
  const plain = pattern.replaceAll(/\\[pP]\{[^}]*\}|\\./g, 'x').replaceAll(/\[[^\]]*\]/g, 'x');
  return plain.split('$|^').every((part, at, { length }) => {
    const whole = `${at > 0 ? '^' : ''}${part}${at < length - 1 ? '$' : ''}`;
    return whole.startsWith('^') && whole.endsWith('$') && !/[*+]|\{\d+,\}/.test(whole);
  });
}

/** In bodies and queries, the server refuses such characters itself. */
const faultsOfPath = ({ params }: Route): string[] =>
  Object.entries(params?.shape ?? {}).flatMap(([name, schema]) =>
    schema.safeParse('a\0b').success ? [`\`params.${name}\` may have a NUL character.`] : [],
  );

function faultsOfBody(route: Route): string[] {
  const limit = bodyLimitOf(route, { session: false });
  const isFromStrangers = route.auth === 'open' || route.auth === 'console' || !route.body;
  const most = isFromStrangers ? mostWithoutKey : mostOfKey;
  const takesFiles = route.accepts?.includes('multipart/form-data');
  const ofSession = sessionAccessOf(route) && !takesFiles ? bodyLimitOf(route, { session: true }) : 0;
  return [
    ...(limit > most ? [`its body may have ${limit} bytes, but ${most} must be enough.`] : []),
    ...(ofSession > mostOfSession
      ? [`a session may send ${ofSession} bytes, but ${mostOfSession} must be enough.`]
      : []),
  ];
}

if (import.meta.main) {
  const faults = faultsOfRequests(routes);
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exit(1);
  console.log(`the requests of ${routes.length} routes have limits`);
}
