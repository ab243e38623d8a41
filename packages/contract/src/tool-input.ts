import { jsonBytes } from './json-bytes.ts';

/** The input of a function as JSON Schema, and the faults in its notation. */
export type ToolInput = { schema: Record<string, unknown>; isShorthand: boolean; faults: string[] };

const largest = 32 * 1024;
const deepest = 8;

/**
 * Parses the arguments of a function: a JSON Schema if it has `type: object`, else the shorthand. A JSON Schema
 * validator checks the schema itself.
 */
export function readToolInput(input: Record<string, unknown>): ToolInput {
  const bytes = jsonBytes(input);
  if (bytes > largest) {
    const fault = `The arguments take ${bytes} bytes as JSON, and may take ${largest}.`;
    return { schema: {}, isShorthand: input.type !== 'object', faults: [fault] };
  }
  if (input.type === 'object') return { schema: input, isShorthand: false, faults: argumentsBesideType(input) };
  const faults: string[] = [];
  const schema = readArguments(input, [], faults);
  return { schema, isShorthand: true, faults };
}

/** A schema would ignore them as annotations and accept everything. */
function argumentsBesideType({ type, properties, title, description, ...others }: Record<string, unknown>): string[] {
  if (properties !== undefined) return [];
  const [name] = Object.entries(others).find(([, value]) => typeof value === 'string' && readType(value)) ?? [];
  return name === undefined
    ? []
    : [
        `\`${name}\` reads like an argument, and \`type: object\` makes this a JSON Schema: write the arguments into \`properties\`, or leave \`type\` out.`,
      ];
}

function readArguments(given: Record<string, unknown>, path: string[], faults: string[]): Record<string, unknown> {
  const properties: [string, unknown][] = [];
  const required: string[] = [];
  for (const [name, type] of Object.entries(given)) {
    const here = [...path, name];
    if (!/^[A-Za-z0-9_.-]{1,64}$/.test(name)) {
      faults.push(`The argument name \`${shown(here)}\` must have 1 to 64 letters, digits and the signs _ . -`);
      continue;
    }
    const read = readArgument(type, here, faults);
    properties.push([name, read.schema]);
    if (!read.isOptional) required.push(name);
  }
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

type Argument = { schema: Record<string, unknown>; isOptional: boolean };

const unreadable: Argument = { schema: {}, isOptional: true };

function readArgument(type: unknown, path: string[], faults: string[]): Argument {
  if (isMap(type)) {
    if (path.length < deepest) return { schema: readArguments(type, path, faults), isOptional: false };
    faults.push(`\`${shown(path)}\` is nested deeper than ${deepest} levels. Write the arguments as JSON Schema.`);
    return unreadable;
  }
  const [, words = '', optional] = typeof type === 'string' ? (/^(.*?)(\?)?$/s.exec(type) ?? []) : [];
  const schema = words.includes('|') ? readChoice(words) : readType(words);
  if (schema) return { schema, isOptional: optional !== undefined };
  faults.push(
    `The type of \`${shown(path)}\` must be string, integer, number, boolean or object, then [] for a list, then ? if ` +
      'optional; or the allowed values as a|b; or an object of its own arguments.',
  );
  return unreadable;
}

const typeNames = ['string', 'integer', 'number', 'boolean', 'object'];

function readType(words: string): Record<string, unknown> | undefined {
  const name = words.replace(/\[\]$/, '');
  if (!typeNames.includes(name)) return undefined;
  return words === name ? { type: name } : { type: 'array', items: { type: name } };
}

/** `string|integer` is rejected: it looks like a union of types but would be a choice of words. */
function readChoice(words: string): Record<string, unknown> | undefined {
  const values = words.split('|').map((value) => value.trim());
  const isPlain = values.every((value) => /^[^?[\]\p{Cc}]{1,100}$/u.test(value) && !typeNames.includes(value));
  if (!isPlain || new Set(values).size < values.length) return undefined;
  return { type: 'string', enum: values };
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const shown = (path: string[]) => {
  const text = path.join('.');
  return text.length > 100 ? `${text.slice(0, 100).toWellFormed()}…` : text;
};
