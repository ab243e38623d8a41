import type { JsonSchema } from '@vestra/agent/message';
import { type JsonRecord, listOf, recordOf, textOf } from './json.ts';
import { mapSchema, withProperties } from './schemas.ts';

/**
 * The vendor rejects a whole request for an unknown keyword. Such keywords are omitted and checked after the answer. A
 * single reference in `allOf`, as schema libraries write it, is sent as the reference.
 */
export function schemaForOpenai(schema: JsonSchema): JsonRecord {
  const { $ref, ...root } = mapSchema(schema, takenNode);
  if (typeof $ref !== 'string') return root;
  // The outermost schema must be an object, not a reference to one.
  const [, keyword = '', name = ''] = /^#\/(\$defs|definitions)\/(.+)$/.exec($ref) ?? [];
  const referred = recordOf(root[keyword])[name];
  return referred ? { ...recordOf(referred), ...root } : { $ref, ...root };
}

function takenNode({ propertyNames: _, pattern, allOf, ...node }: JsonRecord): JsonRecord {
  const reference = loneReference(listOf(allOf));
  return {
    ...withProperties(node),
    ...(pattern !== undefined && !looksAround(textOf(pattern)) && { pattern }),
    ...(allOf !== undefined && (reference ? { $ref: reference } : { allOf })),
  };
}

function loneReference([only, ...others]: readonly unknown[]): string {
  return others.length === 0 && Object.keys(recordOf(only)).length === 1 ? textOf(recordOf(only).$ref) : '';
}

/** Inside a character class these characters are literal. */
const looksAround = (pattern: string) => /\(\?<?[=!]/.test(pattern.replace(/\\./gs, '').replace(/\[[^\]]*\]/g, ''));
