export type JsonNode = { [keyword: string]: unknown };

type ProtoField = { type: string; rule?: 'repeated'; keyType?: string; options?: Record<string, unknown> };
type ProtoType = {
  nested?: Record<string, ProtoType>;
  fields?: Record<string, ProtoField>;
  values?: Record<string, number>;
  oneofs?: Record<string, { oneof: string[] }>;
};

const scalars: Record<string, JsonNode> = {
  string: { type: 'string' },
  bytes: { type: 'string' },
  bool: { type: 'boolean' },
  'google.protobuf.Value': {},
  'google.protobuf.Struct': { type: 'object' },
  'google.protobuf.Duration': { type: 'string' },
  'google.protobuf.Timestamp': { type: 'string' },
};
const numbers = /^(u?int|s?fixed|sint)(32|64)$|^(float|double)$/;

/** Tools that Google runs itself. Vestra declares functions only. */
const unusedTools = /^(?!functionDeclarations$)/;

/** Converts a message of Google's protos to the JSON Schema of its JSON form, which knows no other fields. */
export function protoSchema(protos: ProtoType, message: string): JsonNode {
  const definitions: Record<string, JsonNode> = {};

  function find(name: string): ProtoType | undefined {
    return name.split('.').reduce<ProtoType | undefined>((at, word) => at?.nested?.[word], protos);
  }

  /** A type name holds from the innermost scope outwards. */
  function resolve(name: string, scope: string): string {
    const parents = scope.split('.');
    for (let length = parents.length; length >= 0; length--) {
      const candidate = [...parents.slice(0, length), name].join('.');
      if (find(candidate)) return candidate;
    }
    throw new Error(`${scope} refers to ${name}, which is not in the protos.`);
  }

  function refer(name: string): JsonNode {
    if (!(name in definitions)) {
      definitions[name] = {};
      definitions[name] = define(name);
    }
    return { $ref: `#/definitions/${name}` };
  }

  function schemaOf(type: string, scope: string): JsonNode {
    if (numbers.test(type)) return { type: 'number' };
    return scalars[type] ?? refer(resolve(type, scope));
  }

  function fieldOf({ type, rule, keyType }: ProtoField, scope: string): JsonNode {
    const value = schemaOf(type, scope);
    if (keyType) return { type: 'object', additionalProperties: value };
    return rule === 'repeated' ? { type: 'array', items: value } : value;
  }

  function define(name: string): JsonNode {
    const { fields = {}, values, oneofs = {} } = find(name) as ProtoType;
    if (values) return { enum: Object.keys(values) };
    const sent = Object.entries(fields).filter(([field]) => !(name.endsWith('.Tool') && unusedTools.test(field)));
    const required = sent
      .filter(([field, { options }]) => isRequired(options) && field !== 'model')
      .map(([field]) => field);
    const exclusive = Object.values(oneofs).flatMap(({ oneof }) =>
      oneof.flatMap((one, at) => oneof.slice(at + 1).map((other) => ({ not: { required: [one, other] } }))),
    );
    return {
      type: 'object',
      properties: Object.fromEntries(sent.map(([field, each]) => [field, fieldOf(each, name)])),
      ...(required.length > 0 && { required }),
      ...(exclusive.length > 0 && { allOf: exclusive }),
      additionalProperties: false,
    };
  }

  return { ...refer(message), definitions };
}

const isRequired = (options: Record<string, unknown> = {}) => options['(google.api.field_behavior)'] === 'REQUIRED';
