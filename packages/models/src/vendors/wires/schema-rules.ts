/**
 * The part of JSON Schema that a vendor accepts. A vendor rejects a whole request for anything else, so one tool of one
 * server would stop every answer of a deployment. The run checks arguments and answers against the true schema.
 */
export type SchemaRules = {
  takesKeyword: (keyword: string) => boolean;
  /** Null: any format. */
  formats: ReadonlySet<string> | null;
  /** Names of properties, at every depth. Others are renamed. Null: any name. */
  keys: RegExp | null;
  /** `alone`: nothing may be beside a reference. `never`: every reference is replaced by its schema. */
  references: 'beside' | 'alone' | 'never';
  /** Whether the schema of each position in a list is accepted. */
  takesTuples: boolean;
  takesLookaround: boolean;
  /** Whether objects inside the schema, too, may not combine properties with `anyOf`, `oneOf` or `allOf`. */
  foldsEverywhere: boolean;
};

const anyBut =
  (...refused: string[]) =>
  (keyword: string) =>
    !refused.includes(keyword);

function only(...taken: string[]): (keyword: string) => boolean {
  const keywords = new Set(taken);
  return (keyword) => keywords.has(keyword);
}

const openaiFormats = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'];
const numberLimits = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];
const common = ['type', 'title', 'description', 'properties', 'required', 'additionalProperties', 'items', 'enum'];
const portableKey = /^[a-zA-Z0-9_.-]{1,64}$/;

/**
 * One row per vendor, and the rows of two special cases. The rules of vendors that they follow are in
 * `testing/vendor-rules.ts`, each with its source. See also
 * https://platform.openai.com/docs/guides/structured-outputs#supported-schemas and
 * https://ai.google.dev/api/generate-content#FIELDS.response_json_schema.
 */
export const schemaRules = {
  anthropic: {
    takesKeyword: anyBut('patternProperties'),
    formats: null,
    keys: portableKey,
    references: 'beside',
    takesTuples: true,
    takesLookaround: true,
    foldsEverywhere: false,
  },
  openai: {
    takesKeyword: anyBut('propertyNames', 'patternProperties', 'prefixItems'),
    formats: new Set(openaiFormats),
    keys: null,
    references: 'alone',
    takesTuples: false,
    takesLookaround: false,
    foldsEverywhere: false,
  },
  /** An answer that OpenAI enforces exactly. */
  openaiStrict: {
    takesKeyword: only(
      ...common,
      ...numberLimits,
      ...['const', 'anyOf', '$ref', 'pattern', 'format'],
      'minItems',
      'maxItems',
    ),
    formats: new Set(openaiFormats),
    keys: null,
    references: 'alone',
    takesTuples: false,
    takesLookaround: false,
    foldsEverywhere: false,
  },
  google: {
    takesKeyword: only(
      ...common,
      ...['anyOf', '$ref', 'format', 'prefixItems', 'minItems', 'maxItems', 'minimum', 'maximum'],
    ),
    formats: null,
    keys: null,
    references: 'alone',
    takesTuples: true,
    takesLookaround: false,
    foldsEverywhere: true,
  },
  /** Servers behind this format differ. Most accept every keyword. */
  compatible: {
    takesKeyword: anyBut('prefixItems'),
    formats: null,
    keys: null,
    references: 'beside',
    takesTuples: false,
    takesLookaround: true,
    foldsEverywhere: false,
  },
  /** Accepted everywhere. Used for a tool whose schema a vendor rejected although it followed the vendor's row. */
  plain: {
    takesKeyword: only(...common),
    formats: new Set<string>(),
    keys: portableKey,
    references: 'never',
    takesTuples: false,
    takesLookaround: false,
    foldsEverywhere: true,
  },
} satisfies Record<string, SchemaRules>;
