import type { JsonSchema } from './json-schema.ts';

/**
 * Names the resources in a document. A schema with a title or a constant `object` is a resource. The first shape under
 * a name defines it, and every equal one becomes a reference with its own description.
 */
export function nameResources(document: unknown): { value: unknown; schemas: Record<string, JsonSchema> } {
  const shapes = new Map<string, string>();
  const schemas: Record<string, JsonSchema> = {};

  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit);
    if (typeof value !== 'object' || value === null) return value;
    const inner = Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, key === 'example' ? each : visit(each)]),
    ) as JsonSchema;
    const name = nameOf(inner);
    if (!name) return inner;
    const { description, ...described } = inner;
    const shape = JSON.stringify(described);
    if (!shapes.has(name)) {
      shapes.set(name, shape);
      schemas[name] = inner;
    }
    if (shapes.get(name) !== shape) return inner;
    return { $ref: `#/components/schemas/${name}`, ...(description !== undefined && { description }) };
  };

  return { value: visit(document), schemas };
}

function nameOf(schema: JsonSchema): string | undefined {
  const { title, properties } = schema as { title?: unknown; properties?: Record<string, JsonSchema> };
  if (typeof title === 'string') return pascalCase(title);
  const tag = properties?.object?.const;
  const isDeletion = properties?.deleted !== undefined;
  return typeof tag === 'string' && !isDeletion ? pascalCase(tag) : undefined;
}

const pascalCase = (words: string) =>
  words
    .split(/[^a-z0-9]+/i)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
