/** Generates the request types beyond plain values: `vestra/params.py`. */
import { docstring, isIdentifier, isKeyword, pascal, quoted, singular } from './names.ts';
import { optionsOf, type Schema, shapeOf } from './schemas.ts';

export type InputTypes = {
  /** The annotation of a shape, with `prefix` before names from `params.py`. */
  typeOf: (schema: Schema, name: string, prefix?: string) => string;
  module: () => string;
};

type Fields = { name: string; type: string; description: string; isRequired: boolean }[];

export function inputTypes(): InputTypes {
  const byShape = new Map<string, string>();
  const classes = new Map<string, { schema: Schema; fields: Fields }>();

  const typeOf = (schema: Schema, name: string, prefix = ''): string => partsOf(schema, name, prefix).join(' | ');

  function partsOf(schema: Schema, name: string, prefix: string): string[] {
    const types = Array.isArray(schema.type) ? schema.type.map((type) => ({ ...schema, type })) : null;
    const options = optionsOf(schema) ?? types;
    if (!options) return [plainOf(schema, name, prefix)];
    const objects = options.filter((each) => each.properties);
    const nameOf = (each: Schema) => (objects.length > 1 ? `${name}${tellingApart(each, objects)}` : name);
    const parts = [...new Set(options.flatMap((each) => partsOf(each, nameOf(each), prefix)))];
    if (parts.includes('object')) return ['object'];
    return [...parts.filter((part) => part !== 'None'), ...(parts.includes('None') ? ['None'] : [])];
  }

  function plainOf(schema: Schema, name: string, prefix: string): string {
    if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`;
    if (schema.enum) return `Literal[${schema.enum.map(literal).join(', ')}]`;
    switch (schema.type) {
      case 'null':
        return 'None';
      case 'string':
        return schema.format === 'date-time' ? 'str | datetime' : schema.format === 'date' ? 'str | date' : 'str';
      case 'integer':
        return 'int';
      case 'number':
        return 'float';
      case 'boolean':
        return 'bool';
      case 'array':
        return `Sequence[${typeOf(schema.items ?? {}, singular(name), prefix)}]`;
      case 'object':
        return objectOf(schema, name, prefix);
      default:
        return 'object';
    }
  }

  function objectOf(schema: Schema, name: string, prefix: string): string {
    const { properties, additionalProperties: others } = schema;
    const isOpen = others === undefined || others === true || (typeof others === 'object' && properties !== undefined);
    if (!properties || isOpen) {
      const value = typeof others === 'object' && !properties ? typeOf(others, singular(name), prefix) : 'object';
      return `Mapping[str, ${value}]`;
    }
    const shape = shapeOf(schema);
    const known = byShape.get(shape);
    if (known) return `${prefix}${known}`;
    let free = `${name}Param`;
    for (let count = 2; classes.has(free); count++) free = `${name}${count}Param`;
    byShape.set(shape, free);
    const required = new Set(schema.required);
    const own = { schema, fields: [] as Fields };
    classes.set(free, own);
    for (const [field, inner] of Object.entries(properties)) {
      const type = typeOf(inner, `${name}${pascal(field)}`);
      own.fields.push({ name: field, type, description: inner.description ?? '', isRequired: required.has(field) });
    }
    return `${prefix}${free}`;
  }

  function module(): string {
    const head = [
      '"""What is sent, where it is more than plain values. Written by `npm run fix` from the contract."""',
      '',
      'from __future__ import annotations',
      '',
      'from datetime import date, datetime',
      'from typing import Literal, Mapping, Sequence, TypedDict',
    ].join('\n');
    const written = [...classes].map(([name, { schema, fields }]) => classOf(name, schema.description ?? '', fields));
    const used = written.join('\n');
    const times = ['date', 'datetime'].filter((each) => new RegExp(`\\b${each}\\b`).test(used));
    const imports = times.length > 0 ? `from datetime import ${times.join(', ')}\n` : '';
    return `${[head.replace('from datetime import date, datetime\n', imports), ...written].join('\n\n\n')}\n`;
  }

  return { typeOf, module };
}

/** In Python 3.10, optional keys need a separate class. */
function classOf(name: string, description: string, fields: Fields): string {
  if (fields.some((each) => !isIdentifier(each.name) || isKeyword(each.name))) return functional(name, fields);
  const [needed, others] = [fields.filter((each) => each.isRequired), fields.filter((each) => !each.isRequired)];
  const lines = (some: Fields) =>
    some.flatMap((each) => [`    ${each.name}: ${each.type}`, ...docstring([each.description], '    ')]);
  const doc = docstring([description], '    ');
  if (others.length === 0) return [`class ${name}(TypedDict):`, ...doc, ...lines(needed)].join('\n');
  if (needed.length === 0) return [`class ${name}(TypedDict, total=False):`, ...doc, ...lines(others)].join('\n');
  return [
    [`class _${name}Needs(TypedDict):`, ...lines(needed)].join('\n'),
    [`class ${name}(_${name}Needs, total=False):`, ...doc, ...lines(others)].join('\n'),
  ].join('\n\n\n');
}

/** For a field that cannot be an attribute, such as `for`. */
const functional = (name: string, fields: Fields) =>
  [
    `${name} = TypedDict(`,
    `    ${quoted(name)},`,
    '    {',
    ...fields.map((each) => `        ${quoted(each.name)}: ${quoted(each.type).replaceAll('\\"', "'")},`),
    '    },',
    '    total=False,',
    ')',
  ].join('\n');

const literal = (value: unknown): string =>
  typeof value === 'string' ? quoted(value) : value === true ? 'True' : value === false ? 'False' : String(value);

function tellingApart(option: Schema, all: readonly Schema[]): string {
  const properties = Object.entries(option.properties ?? {});
  const constant = properties.find(([, each]) => typeof each.const === 'string')?.[1].const;
  if (constant !== undefined) return pascal(String(constant));
  const own = properties.find(([name]) => all.every((each) => each === option || !each.properties?.[name]))?.[0];
  return own === undefined ? String(all.indexOf(option) + 1) : `By${pascal(own)}`;
}
