import type { JsonSchema } from './json-schema.ts';

export type Fields = Record<string, JsonSchema>;

/** Writes the address of a named object; pages differ in where their objects are. */
export type LinkObject = (name: string) => string;

/** A Markdown table with a row for each field, nested ones by their dotted path. */
export function fieldTable(fields: Fields, link: LinkObject): string {
  return ['| field | type | meaning |', '|---|---|---|', ...fieldRows(fields, link, '')].join('\n');
}

/** The same with limits and defaults, for fields that a caller sends. */
export function requestTable(rows: readonly { name: string; place: string; schema: JsonSchema }[], link: LinkObject) {
  const lines = rows.flatMap(({ name, place, schema }) => [
    `| \`${name}\` | ${place} | ${cell(typeOf(schema, link), limitsOf(schema))} | ${meaningOf(schema)} |`,
    ...nestedRows(schema, link, name),
  ]);
  return ['| field | in | type and limits | meaning |', '|---|---|---|---|', ...lines].join('\n');
}

function nestedRows(schema: JsonSchema, link: LinkObject, path: string): string[] {
  return variantsOf(schema).flatMap((inner) => {
    const { properties = {}, required = [] } = inner as { properties?: Fields; required?: string[] };
    return Object.entries(properties).flatMap(([name, field]) => {
      const place = required.includes(name) ? 'required' : '';
      return [
        `| \`${path}.${name}\` | ${place} | ${cell(typeOf(field, link), limitsOf(field))} | ${meaningOf(field)} |`,
        ...nestedRows(field, link, `${path}.${name}`),
      ];
    });
  });
}

const cell = (type: string, limits: string) => (limits ? `${type}; ${limits}` : type);

function fieldRows(fields: Fields, link: LinkObject, path: string): string[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const inner = (innerOf(field).properties ?? {}) as Fields;
    const row = `| \`${path}${name}\` | ${typeOf(field, link)} | ${meaningOf(field)} |`;
    return [row, ...fieldRows(inner, link, `${path}${name}.`)];
  });
}

/** The objects that a field may hold, without null; those inside a list count as well. */
function variantsOf(field: JsonSchema): JsonSchema[] {
  if (field.$ref) return [];
  const options = (field.anyOf ?? field.oneOf) as JsonSchema[] | undefined;
  if (options) return options.flatMap(variantsOf);
  if (field.type === 'array' && field.items) return variantsOf(field.items as JsonSchema);
  return field.properties ? [field] : [];
}

/** The first object that a field may hold: not its null, and of a list one entry. */
function innerOf(field: JsonSchema): JsonSchema {
  const options = (field.anyOf ?? []) as JsonSchema[];
  const own = options.find(({ type }) => type !== 'null');
  if (own) return innerOf(own);
  return field.type === 'array' ? innerOf(field.items as JsonSchema) : field;
}

export const meaningOf = (field: JsonSchema): string =>
  String(
    field.description ?? ((field.anyOf ?? []) as JsonSchema[]).find((each) => each.description)?.description ?? '',
  );

function typeOf(field: JsonSchema, link: LinkObject): string {
  if (field.$ref) return link(nameOf(field.$ref));
  if (field.const !== undefined) return `\`${field.const}\``;
  if (field.enum) return (field.enum as unknown[]).map((value) => `\`${value}\``).join(', ');
  if (field.type === 'array') return `list of ${typeOf(field.items as JsonSchema, link)}`;
  const options = (field.anyOf ?? field.oneOf) as JsonSchema[] | undefined;
  return options
    ? [...new Set(options.map((each) => typeOf(each, link)))].join(' or ')
    : [field.type ?? 'any'].flat().join(' or ');
}

function limitsOf(field: JsonSchema): string {
  const limits = boundsOf(field);
  if (field.default !== undefined) limits.push(`default \`${JSON.stringify(field.default)}\``);
  return limits.join('; ');
}

function boundsOf(field: JsonSchema): string[] {
  const options = ((field.anyOf ?? field.oneOf) as JsonSchema[] | undefined)?.flatMap(boundsOf) ?? [];
  const length = range(field.minLength, field.maxLength, 'characters');
  const items = range(field.minItems, field.maxItems, 'entries');
  const names = range(field.minProperties, field.maxProperties, 'names');
  const number = range(field.minimum ?? field.exclusiveMinimum, field.maximum ?? field.exclusiveMaximum, '');
  const inner =
    field.type === 'array' && field.items ? boundsOf(field.items as JsonSchema).map((each) => `each ${each}`) : [];
  return [...new Set([length, items, names, number, ...inner, ...options].filter((each) => each !== ''))];
}

/** JSON Schema gives every integer the bounds of a double: those say nothing. */
function range(least: unknown, most: unknown, unit: string): string {
  const [from, to] = [least, most].map((bound) =>
    typeof bound === 'number' && Math.abs(bound) < Number.MAX_SAFE_INTEGER ? bound : undefined,
  );
  const ending = unit && ` ${unit}`;
  if (from !== undefined && to !== undefined) return `${from} to ${to}${ending}`;
  if (to !== undefined) return `at most ${to}${ending}`;
  return from ? `at least ${from}${ending}` : '';
}

export const nameOf = (ref: unknown): string => (typeof ref === 'string' ? (ref.split('/').at(-1) ?? '') : '');
