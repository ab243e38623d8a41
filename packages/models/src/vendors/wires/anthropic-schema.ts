import type { JsonSchema } from '@vestra/agent/message';
import { type JsonRecord, recordOf, textOf } from './json.ts';
import { mapSchema, schemaAt, schemasIn, wordsOfLimits } from './schemas.ts';

/** The vendor rejects more than 24, and fails to compile many schemas with fewer. */
const mostOptionalProperties = 10;

/**
 * Whether the vendor can enforce the schema. It rejects recursive schemas and schemas with many optional properties. It
 * also closes every object, so one with free keys would come back empty.
 */
export function isTakenByAnthropic(schema: JsonSchema): boolean {
  const known = new Map<string, number>();

  function optionalIn(node: JsonRecord, referrers: readonly string[]): number {
    if (isOpen(node)) return Number.POSITIVE_INFINITY;
    const required = Array.isArray(node.required) ? node.required : [];
    const own = Object.keys(recordOf(node.properties)).filter((name) => !required.includes(name)).length;
    const below = schemasIn(node).reduce<number>((sum, each) => sum + optionalIn(recordOf(each), referrers), 0);
    return own + below + (typeof node.$ref === 'string' ? optionalBehind(node.$ref, referrers) : 0);
  }

  function optionalBehind(reference: string, referrers: readonly string[]): number {
    if (referrers.includes(reference)) return Number.POSITIVE_INFINITY;
    const found = known.get(reference) ?? optionalIn(recordOf(schemaAt(schema, reference)), [...referrers, reference]);
    known.set(reference, found);
    return found;
  }

  return optionalIn(schema, ['#']) <= mostOptionalProperties;
}

const kept = ['$schema', '$id', 'title', 'description', 'default', 'const', 'enum', 'type', 'anyOf', 'allOf'];
const definitions = ['$defs', 'definitions'];
const formats = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'];
/** Reduces the schema to the keywords that the vendor accepts. The rest is described to the model in words. */
export function schemaForAnthropic(schema: JsonSchema): JsonRecord {
  return mapSchema(schema, (node) => {
    if (typeof node.$ref === 'string') return pick(node, ['$ref', ...definitions]);
    const isObject = node.type === 'object' || node.properties !== undefined;
    const isKnownFormat = formats.includes(textOf(node.format));
    const told = wordsOfLimits(node, (limit) => limit !== 'format' || !isKnownFormat);
    const description = [textOf(node.description), told].filter(Boolean).join('\n');
    return {
      ...pick(node, [...kept, ...definitions, 'items']),
      ...(node.anyOf === undefined && node.oneOf !== undefined && { anyOf: node.oneOf }),
      ...(isObject && { ...pick(node, ['properties', 'required']), additionalProperties: false }),
      ...(isKnownFormat && { format: node.format }),
      ...(description && { description }),
    };
  });
}

function isOpen({ type, properties, patternProperties, additionalProperties }: JsonRecord): boolean {
  if (additionalProperties === true || (typeof additionalProperties === 'object' && additionalProperties)) return true;
  if (Object.keys(recordOf(patternProperties)).length > 0) return true;
  return [type].flat().includes('object') && properties === undefined && additionalProperties !== false;
}

const pick = (node: JsonRecord, keywords: readonly string[]): JsonRecord =>
  Object.fromEntries(
    keywords.filter((keyword) => node[keyword] !== undefined).map((keyword) => [keyword, node[keyword]]),
  );
