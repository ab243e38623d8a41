export type JsonSchema = { [key: string]: unknown };

/**
 * Gives the resources in a document names. A schema whose `object` is a constant is that resource; the
 * first shape met under a tag takes the name, and every equal one becomes a reference to it.
 */
export function nameResources(document: unknown): { value: unknown; schemas: Record<string, JsonSchema> } {
  const shapes = new Map<string, string>();
  const schemas: Record<string, JsonSchema> = {};

  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit);
    if (typeof value !== 'object' || value === null) return value;
    const inner = Object.fromEntries(Object.entries(value).map(([key, each]) => [key, visit(each)])) as JsonSchema;
    const tag = tagOf(inner);
    if (!tag) return inner;
    const name = pascalCase(tag);
    const shape = JSON.stringify(inner);
    if (!shapes.has(name)) {
      shapes.set(name, shape);
      schemas[name] = inner;
    }
    return shapes.get(name) === shape ? { $ref: `#/components/schemas/${name}` } : inner;
  };

  return { value: visit(document), schemas };
}

function tagOf(schema: JsonSchema): string | undefined {
  const properties = schema.properties as Record<string, JsonSchema> | undefined;
  const tag = properties?.object?.const;
  const isDeletion = properties?.deleted !== undefined;
  return typeof tag === 'string' && !isDeletion ? tag : undefined;
}

const pascalCase = (tag: string) =>
  tag
    .split(/[^a-z0-9]+/i)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
