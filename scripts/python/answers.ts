/** Generates the response types: `vestra/types.py`. */
import { docstring, pascal, quoted, safe, singular } from './names.ts';
import { optionsOf, type Schema, shapeOf } from './schemas.ts';

type Named = { name: string; base: string; schema: Schema; own: string[] };

export type AnswerTypes = {
  /** The annotation of a shape within `types.py`. `name` is used if it needs a name. */
  typeOf: (schema: Schema, name: string) => string;
  /** A union of events, discriminated by `type`. */
  addEvents: (alias: string, prefix: string, schema: Schema, description: string) => void;
  module: () => string;
};

/** Names of some responses; the others are named after their resource or call. */
const answerNames: Readonly<Record<string, string>> = {
  'deployments.create': 'CreatedDeployment',
  'deployments.put': 'AppliedDeployment',
  'deployments.promote': 'PromotedDeployment',
  'deployments.rollback': 'RolledBackDeployment',
  'scenarios.generate': 'GeneratedScenarios',
  'functions.list': 'DeclaredFunctions',
  'functions.take': 'TakenCalls',
  'functions.renew': 'RenewedCall',
  'functions.release': 'ReleasedCall',
  'users.delete': 'DeletedUser',
  'users.warm': 'WarmedUser',
  'protocols.agentCard': 'AgentCard',
};

export const answerName = (call: string, otherwise: string): string => answerNames[call] ?? otherwise;

type Answer = { family: string; call: string; schema: Schema };

/** Every shape with a tag, `object: 'turn'`, is named after it; the smallest of several gets the plain name. */
export function answerTypes(all: readonly Answer[]): AnswerTypes {
  const classes = new Map<string, Named>();
  const byShape = new Map<string, string>();
  const aliases = new Map<string, string>();
  const aliasLines: string[] = [];
  const unions: string[] = [];
  const unionNames = new Map<string, string>();
  const fieldLines = new Map<string, string[]>();

  classes.set('Deleted', { name: 'Deleted', base: 'Resource', schema: {}, own: [] });
  fieldLines.set('Deleted', ['    object: str', '    id: str', '    deleted: Literal[True]']);
  for (const { name, base, schema, own } of taggedOf(all)) {
    byShape.set(shapeOf(schema), name);
    classes.set(name, { name, base, schema, own });
  }
  for (const each of [...classes.values()]) if (!fieldLines.has(each.name)) writeFields(each);

  function typeOf(schema: Schema, name: string): string {
    return partsOf(schema, name).join(' | ');
  }

  /** The types of a union, or the single type; None comes last. */
  function partsOf(schema: Schema, name: string): string[] {
    const types = Array.isArray(schema.type) ? schema.type.map((type) => ({ ...schema, type })) : null;
    const options = optionsOf(schema) ?? types;
    if (!options) return [plainOf(schema, name)];
    const known = unionNames.get(shapeOf(schema));
    if (known) return [known];
    const objects = options.filter((each) => each.properties && !each.properties.object);
    const nameOf = (each: Schema) => (objects.length > 1 ? `${name}${tellingApart(each, objects)}` : name);
    const parts = [...new Set(options.flatMap((each) => partsOf(each, nameOf(each))))];
    if (parts.includes('Any')) return ['Any'];
    return [...parts.filter((part) => part !== 'None'), ...(parts.includes('None') ? ['None'] : [])];
  }

  function plainOf(schema: Schema, name: string): string {
    if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`;
    if (schema.enum) return enumOf(schema.enum, name);
    switch (schema.type) {
      case 'null':
        return 'None';
      case 'string':
        return schema.format === 'binary' ? 'bytes' : 'str';
      case 'integer':
        return 'int';
      case 'number':
        return 'float';
      case 'boolean':
        return 'bool';
      case 'array':
        return `list[${typeOf(schema.items ?? {}, singular(name))}]`;
      case 'object':
        return objectOf(schema, name);
      default:
        return 'Any';
    }
  }

  function objectOf(schema: Schema, name: string): string {
    const { properties, additionalProperties: others } = schema;
    if (properties?.deleted?.const === true) return 'Deleted';
    if (!properties) return `dict[str, ${typeof others === 'object' ? typeOf(others, singular(name)) : 'Any'}]`;
    const shape = shapeOf(schema);
    const known = byShape.get(shape);
    // Two small shapes that look alike, such as a code and a message, may have different meanings.
    if (known && (properties.object || Object.keys(properties).length > 3 || known === name)) return known;
    let free = name;
    for (let count = 2; classes.has(free); count++) free = `${name}${count}`;
    if (!byShape.has(shape)) byShape.set(shape, free);
    const named = { name: free, base: 'Resource', schema, own: Object.keys(properties) };
    classes.set(free, named);
    writeFields(named);
    return free;
  }

  function writeFields({ name, base, schema, own }: Named): void {
    const required = new Set(schema.required);
    const lines = own.flatMap((field) => {
      const inner = schema.properties?.[field] ?? {};
      const type = typeOf(inner, fieldName(base === 'Resource' ? name : base, field, inner));
      const optional = required.has(field) ? type : `${orNone(type)} = None`;
      return [`    ${safe(field)}: ${optional}`, ...docstring([inner.description ?? ''], '    ')];
    });
    fieldLines.set(name, lines);
  }

  function enumOf(values: readonly unknown[], name: string): string {
    const written = `Literal[${values.map(literal).join(', ')}]`;
    if (values.length < 3) return written;
    const known = aliases.get(written);
    if (known) return known;
    let free = name;
    for (let count = 2; classes.has(free) || [...aliases.values()].includes(free); count++) free = `${name}${count}`;
    aliases.set(written, free);
    aliasLines.push(assignment(free, 'Literal', values.map(literal)));
    return free;
  }

  function addEvents(alias: string, prefix: string, schema: Schema, description: string): void {
    const names = (optionsOf(schema) ?? [schema]).map((option) => {
      const type = String(option.properties?.type?.const);
      // `webhook.test` already contains the prefix.
      const name = `${pascal(type).startsWith(prefix) ? '' : prefix}${pascal(type)}Event`;
      const own = Object.keys(option.properties ?? {});
      classes.set(name, { name, base: 'Resource', schema: option, own });
      byShape.set(shapeOf(option), name);
      const lines = own.flatMap((field) => {
        const inner = option.properties?.[field] ?? {};
        const written = typeOf(
          inner,
          field === 'data' ? `${prefix}${pascal(type)}Data` : `${prefix}Event${pascal(field)}`,
        );
        return [`    ${field}: ${written}`, ...docstring([inner.description ?? ''], '    ')];
      });
      fieldLines.set(name, lines);
      return name;
    });
    unionNames.set(shapeOf(schema), alias);
    unions.push(assignment(alias, 'Union', names), ...docstring([description], ''));
  }

  function module(): string {
    const written = [...classes.values()].map(({ name, base, schema }) =>
      [
        `class ${name}(${base}):`,
        ...docstring([schema.description ?? ''], '    '),
        ...bodyOf(fieldLines.get(name)),
      ].join('\n'),
    );
    const head = [
      '"""Response types. Generated by `npm run fix` from the contract."""',
      '',
      'from __future__ import annotations',
      '',
      'from typing import Any, Literal, Union',
      '',
      'from ._resource import Resource',
    ].join('\n');
    return `${[`${head}\n\n${aliasLines.join('\n')}`, ...written, unions.join('\n')].join('\n\n\n')}\n`;
  }

  return { typeOf, addEvents, module };
}

/** The name of a nested class; items of a list use the singular. */
function fieldName(name: string, field: string, schema: Schema): string {
  if (field === 'data' && schema.type === 'array' && singular(name) !== name) return singular(name);
  return `${name.replace(/With[A-Z].*$/, '')}${pascal(field)}`;
}

const bodyOf = (lines: readonly string[] | undefined) => (lines && lines.length > 0 ? lines : ['    pass']);

const orNone = (type: string) => (type === 'Any' || / \| None$|^None$/.test(type) ? type : `${type} | None`);

const literal = (value: unknown): string =>
  typeof value === 'string' ? quoted(value) : value === true ? 'True' : value === false ? 'False' : String(value);

function assignment(name: string, generic: string, parts: readonly string[]): string {
  const line = `${name} = ${generic}[${parts.join(', ')}]`;
  return line.length <= 100 ? line : `${name} = ${generic}[\n${parts.map((part) => `    ${part},\n`).join('')}]`;
}

/** Distinguishes the options of a union: a constant, or a field that only this one has. */
function tellingApart(option: Schema, all: readonly Schema[]): string {
  const properties = Object.entries(option.properties ?? {});
  const constant = properties.find(([, each]) => typeof each.const === 'string')?.[1].const;
  if (constant !== undefined) return pascal(String(constant));
  const own = properties.find(([name]) => all.every((each) => each === option || !each.properties?.[name]))?.[0];
  return own === undefined ? String(all.indexOf(option) + 1) : `By${pascal(own)}`;
}

type Tagged = { tag: string; schema: Schema };

function taggedOf(all: readonly Answer[]): Named[] {
  const given = new Map(
    all.flatMap(({ call, schema }) => (answerNames[call] ? [[shapeOf(schema), answerNames[call]]] : [])),
  );
  const byTag = new Map<string, Map<string, Schema>>();
  for (const { family, schema } of all) {
    for (const { tag, schema: found } of tagsWithin(schema)) {
      // OpenAI uses some of the same tags.
      const name = `${family === 'openai' ? 'Openai' : ''}${pascal(tag)}`;
      const shapes = byTag.get(name) ?? new Map<string, Schema>();
      if (!shapes.has(shapeOf(found))) shapes.set(shapeOf(found), found);
      byTag.set(name, shapes);
    }
  }
  return [...byTag].flatMap(([tag, shapes]) => namesOf(tag, [...shapes.values()], given));
}

function namesOf(tag: string, shapes: readonly Schema[], given: ReadonlyMap<string, string>): Named[] {
  const size = (schema: Schema) => Object.keys(schema.properties ?? {}).length;
  const [plain, ...others] = [...shapes].sort((a, b) => size(a) - size(b));
  if (!plain) return [];
  const named: Named[] = [{ name: tag, base: 'Resource', schema: plain, own: Object.keys(plain.properties ?? {}) }];
  for (const schema of others) {
    const own = Object.keys(schema.properties ?? {}).filter((field) => !isSame(plain, schema, field));
    const added = own.filter((field) => !plain.properties?.[field]);
    const words = added.length > 0 ? added : own;
    let count = 1;
    const nameOf = () => `${tag}With${words.slice(0, count).map(pascal).join('And')}`;
    while (count < words.length && named.some(({ name }) => name === nameOf())) count += 1;
    const free = named.some(({ name }) => name === nameOf()) ? `${nameOf()}${named.length}` : nameOf();
    const name = given.get(shapeOf(schema)) ?? free;
    const isMore =
      Object.keys(plain.properties ?? {}).every((field) => schema.properties?.[field]) && added.length === own.length;
    named.push({
      name,
      base: isMore ? tag : 'Resource',
      schema,
      own: isMore ? own : Object.keys(schema.properties ?? {}),
    });
  }
  return named;
}

const isSame = (a: Schema, b: Schema, field: string) => {
  const [one, other] = [a.properties?.[field], b.properties?.[field]];
  return (
    one !== undefined &&
    other !== undefined &&
    shapeOf(one) === shapeOf(other) &&
    a.required?.includes(field) === b.required?.includes(field)
  );
};

function tagsWithin(schema: Schema): Tagged[] {
  const { properties, items, additionalProperties: others } = schema;
  const tag = properties?.object?.const;
  const isOwn = typeof tag === 'string' && !['event', 'list'].includes(tag) && properties?.deleted === undefined;
  const inner = [
    ...Object.values(properties ?? {}),
    ...(items ? [items] : []),
    ...(typeof others === 'object' ? [others] : []),
    ...(optionsOf(schema) ?? []),
  ];
  return [...(isOwn ? [{ tag, schema }] : []), ...inner.flatMap(tagsWithin)];
}
