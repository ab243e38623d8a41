import type { JsonSchema } from '@vestra/agent/message';
import { type JsonRecord, listOf, recordOf, textOf } from './json.ts';
import { mapSchema, withProperties } from './schemas.ts';

/**
 * The vendor refuses a whole request for a keyword that it does not know: those are left out, and left to whoever
 * checks the value. A lone reference in `allOf`, as schema libraries write it, is sent as the reference.
 */
export function schemaForOpenai(schema: JsonSchema): JsonRecord {
  const { $ref, ...root } = mapSchema(schema, takenNode);
  if (typeof $ref !== 'string') return root;
  // The outermost schema has to be an object, and no reference to one.
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

/** Within a character class the same characters look nowhere. */
const looksAround = (pattern: string) => /\(\?<?[=!]/.test(pattern.replace(/\\./gs, '').replace(/\[[^\]]*\]/g, ''));
