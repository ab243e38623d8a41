import { asList, asRecord } from './scripted-answer.ts';

/** Rules for the schemas of tools and answers. Each function returns the fault in the vendor's words, or null. */
type Body = Record<string, unknown>;
type NamedSchema = { name: string; schema: Body; description: string };

const openaiTools = ({ tools }: Body): NamedSchema[] =>
  asList(tools).map((tool) => {
    const { name, parameters, description } = asRecord(tool.function ?? tool);
    return { name: String(name), schema: asRecord(parameters), description: String(description ?? '') };
  });

const anthropicTools = ({ tools }: Body): NamedSchema[] =>
  asList(tools).map(({ name, input_schema, description }) => ({
    name: String(name),
    schema: asRecord(input_schema),
    description: String(description ?? ''),
  }));

type Visit = (node: Body, context: readonly string[]) => string | null;

/** Calls `visit` for every schema inside, outermost first, until it finds a fault. */
function findIn(value: unknown, visit: Visit, context: readonly string[] = []): string | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const node = value as Body;
  const found = visit(node, context);
  if (found !== null) return found;
  for (const keyword of ['properties', '$defs', 'definitions', 'patternProperties']) {
    for (const [name, each] of Object.entries(asRecord(node[keyword]))) {
      const inner = findIn(each, visit, [...context, keyword, name]);
      if (inner !== null) return inner;
    }
  }
  for (const keyword of ['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains']) {
    const inner = findIn(node[keyword], visit, [...context, keyword]);
    if (inner !== null) return inner;
  }
  for (const keyword of ['anyOf', 'oneOf', 'allOf', 'prefixItems']) {
    for (const [at, each] of asList(node[keyword]).entries()) {
      const inner = findIn(each, visit, [...context, keyword, String(at)]);
      if (inner !== null) return inner;
    }
  }
  return null;
}

const shown = (context: readonly string[]) => `context=(${context.map((step) => `'${step}'`).join(', ')})`;

export function openaiRootFault(body: Body): string | null {
  for (const { name, schema } of openaiTools(body)) {
    const isObject = schema.type === 'object';
    if (!isObject || ['oneOf', 'anyOf', 'allOf', 'enum', 'not'].some((keyword) => keyword in schema))
      return `Invalid schema for function '${name}': schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.`;
  }
  return null;
}

export function openaiItemsFault(body: Body): string | null {
  for (const { name, schema } of openaiTools(body)) {
    const fault = findIn(schema, ({ type, items }, context) => {
      if (Array.isArray(items)) return `Invalid schema for function '${name}': [] is not of type 'object', 'boolean'.`;
      const isBare = [type].flat().includes('array') && items === undefined;
      return isBare ? `Invalid schema for function '${name}': In ${shown(context)}, array schema missing items.` : null;
    });
    if (fault !== null) return fault;
  }
  return null;
}

export function openaiDescriptionFault(body: Body): string | null {
  const at = openaiTools(body).findIndex(({ description }) => [...description].length > 1024);
  if (at === -1) return null;
  return `Invalid 'tools[${at}].description': string too long. Expected a string with maximum length 1024.`;
}

const formats = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'];

export function openaiFormatFault(body: Body): string | null {
  for (const { name, schema } of openaiTools(body)) {
    const fault = findIn(schema, ({ format }, context) =>
      typeof format === 'string' && !formats.includes(format)
        ? `Invalid schema for function '${name}': In ${shown(context)}, '${format}' is not a valid format.`
        : null,
    );
    if (fault !== null) return fault;
  }
  return null;
}

const permitted = new Set([
  ...['type', 'title', 'description', 'properties', 'required', 'additionalProperties', 'items', 'enum', 'const'],
  ...['anyOf', '$ref', '$defs', 'definitions', 'pattern', 'format', 'minItems', 'maxItems'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
]);

export function strictFault(body: Body): string | null {
  const format = asRecord(asRecord(body.text).format ?? asRecord(body.response_format).json_schema);
  if (format.strict !== true) return null;
  const fault = findIn(format.schema, (node, context) => {
    const at = `In ${shown(context)}`;
    const { $ref, properties, required } = node;
    const siblings = Object.keys(node).filter((keyword) => keyword !== '$ref' && keyword !== '$defs');
    if ($ref !== undefined) return siblings.length > 0 ? `${at}, $ref cannot have keywords {'${siblings[0]}'}.` : null;
    const unknown = Object.keys(node).find((keyword) => !permitted.has(keyword));
    if (unknown) return `${at}, '${unknown}' is not permitted.`;
    if (typeof node.format === 'string' && !formats.includes(node.format))
      return `${at}, '${node.format}' is not a valid format.`;
    if (node.type === undefined && node.anyOf === undefined) return `${at}, schema must have a 'type' key.`;
    if ([node.type].flat().includes('array') && node.items === undefined) return `${at}, array schema missing items.`;
    if (![node.type].flat().includes('object')) return null;
    if (node.additionalProperties !== false)
      return `${at}, 'additionalProperties' is required to be supplied and to be false.`;
    const names = Object.keys(asRecord(properties));
    const isWhole = names.every((name) => (required as unknown[] | undefined)?.includes(name));
    return isWhole
      ? null
      : `${at}, 'required' is required to be supplied and to be an array including every key in properties.`;
  });
  return fault === null ? null : `Invalid schema for response_format 'answer': ${fault}`;
}

export function anthropicRootFault(body: Body): string | null {
  for (const [at, { schema }] of anthropicTools(body).entries()) {
    if (schema.type === undefined) return `tools.${at}.custom.input_schema.type: Field required`;
    if (schema.type !== 'object') return `tools.${at}.custom.input_schema.type: Input should be 'object'`;
    if (['oneOf', 'anyOf', 'allOf'].some((keyword) => keyword in schema))
      return `tools.${at}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`;
  }
  return null;
}

export function anthropicKeyFault(body: Body): string | null {
  for (const [at, { schema }] of anthropicTools(body).entries()) {
    const fault = findIn(schema, ({ properties }) =>
      Object.keys(asRecord(properties)).every((name) => /^[a-zA-Z0-9_.-]{1,64}$/.test(name))
        ? null
        : `tools.${at}.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'`,
    );
    if (fault !== null) return fault;
  }
  return null;
}

const types = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'];

/** The faults that clients are known to send, and not the whole of the meta-schema. */
export function anthropicDraftFault(body: Body): string | null {
  for (const [at, { schema }] of anthropicTools(body).entries()) {
    const fault = findIn(schema, (node) => {
      const isOlder =
        Array.isArray(node.items) ||
        typeof node.exclusiveMinimum === 'boolean' ||
        typeof node.exclusiveMaximum === 'boolean' ||
        (node.required !== undefined && !Array.isArray(node.required)) ||
        (node.type !== undefined && ![node.type].flat().every((type) => types.includes(String(type)))) ||
        (typeof node.$ref === 'string' && !hasTarget(schema, node.$ref));
      return isOlder
        ? `tools.${at}.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12).`
        : null;
    });
    if (fault !== null) return fault;
  }
  return null;
}

function hasTarget(root: Body, reference: string): boolean {
  if (!reference.startsWith('#')) return false;
  const steps = reference.slice(1).split('/').slice(1);
  return steps.reduce<unknown>((node, step) => asRecord(node)[step], root) !== undefined;
}

export function anthropicPatternFault(body: Body): string | null {
  for (const [at, { schema }] of anthropicTools(body).entries()) {
    const fault = findIn(schema, ({ patternProperties }) =>
      patternProperties === undefined
        ? null
        : `tools.${at}.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12.`,
    );
    if (fault !== null) return fault;
  }
  return null;
}

function googleSchemas({ tools, generationConfig }: Body): [path: string, schema: unknown][] {
  const declarations = asList(asList(tools)[0]?.functionDeclarations);
  return [
    ...declarations.map(({ parametersJsonSchema }, at): [string, unknown] => [
      `GenerateContentRequest.tools[0].function_declarations[${at}].parameters_json_schema`,
      parametersJsonSchema,
    ]),
    ['GenerateContentRequest.generation_config.response_json_schema', asRecord(generationConfig).responseJsonSchema],
  ];
}

export function googleReferenceFault(body: Body): string | null {
  for (const [path, schema] of googleSchemas(body)) {
    const fault = findIn(schema, ({ $ref, ...others }) => {
      if ($ref === undefined) return null;
      if (Object.keys(others).some((keyword) => !keyword.startsWith('$')))
        return `${path}: when $ref is set, no other field may be set`;
      return hasTarget(asRecord(schema), String($ref)) ? null : `${path}: reference to undefined schema`;
    });
    if (fault !== null) return fault;
  }
  return null;
}

export function googleRequiredFault(body: Body): string | null {
  for (const [path, schema] of googleSchemas(body)) {
    const fault = findIn(schema, ({ type, properties, required }) => {
      if (type !== 'object' || !Array.isArray(required)) return null;
      const missing = required.findIndex((name) => !(String(name) in asRecord(properties)));
      return missing === -1 ? null : `* ${path}.required[${missing}]: property is not defined\n`;
    });
    if (fault !== null) return fault;
  }
  return null;
}
