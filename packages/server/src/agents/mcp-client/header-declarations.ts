/** The schema keyword by which a tool of revision 2026-07-28 asks for an argument as a header too. */
const keyword = 'x-mcp-header';
/** A header name in HTTP. A space or a line break in it could add other headers. */
const headerName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const allowedTypes: readonly unknown[] = ['string', 'integer', 'boolean'];

/** Keywords with one schema or a list of schemas, and keywords with schemas by name. */
const withSchemas = [
  ...['items', 'prefixItems', 'contains', 'additionalProperties', 'unevaluatedProperties', 'unevaluatedItems'],
  ...['propertyNames', 'oneOf', 'anyOf', 'allOf', 'not', 'if', 'then', 'else'],
];
const withNamedSchemas = ['patternProperties', 'dependentSchemas', '$defs', 'definitions'];

/**
 * Returns why the schema declares headers that the protocol forbids, or null. A client must not offer or call such a
 * tool.
 */
export function headerFault(inputSchema: Readonly<Record<string, unknown>>): string | null {
  const seen = new Set<string>();
  return faultIn(inputSchema, '', true);

  function faultIn(node: unknown, path: string, isReachable: boolean): string | null {
    if (typeof node !== 'object' || node === null) return null;
    const schema = node as Record<string, unknown>;
    const fault = Object.hasOwn(schema, keyword) ? faultOfDeclaration(schema, path, isReachable) : null;
    if (fault !== null) return fault;
    for (const [name, inner] of namedIn(schema.properties)) {
      const inside = faultIn(inner, path === '' ? name : `${path}.${name}`, isReachable);
      if (inside !== null) return inside;
    }
    const others = [
      ...withSchemas.flatMap((key) => [schema[key]].flat()),
      ...withNamedSchemas.flatMap((key) => namedIn(schema[key]).map(([, inner]) => inner)),
    ];
    for (const inner of others) {
      const inside = faultIn(inner, path, false);
      if (inside !== null) return inside;
    }
    return null;
  }

  function faultOfDeclaration(schema: Record<string, unknown>, path: string, isReachable: boolean): string | null {
    const name = schema[keyword];
    const at = path === '' ? 'its input' : `\`${path.slice(0, 100)}\``;
    if (!isReachable || path === '') return `\`${keyword}\` of ${at} is not on a plain property`;
    if (typeof name !== 'string' || !headerName.test(name))
      return `\`${keyword}\` of ${at} is not the name of a header`;
    if (!allowedTypes.includes(schema.type)) return `\`${keyword}\` of ${at} needs a string, an integer or a boolean`;
    if (seen.has(name.toLowerCase())) return `\`${keyword}\` of ${at} names the same header as another property`;
    seen.add(name.toLowerCase());
    return null;
  }
}

const namedIn = (value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
