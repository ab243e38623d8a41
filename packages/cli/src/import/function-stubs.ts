import type { ImportedFunction } from './imported-agent.ts';
import { isMap, type LooseMap, listIn, mapIn, rowOf, textIn, textsIn } from './loose-value.ts';

/** Words that cannot name a declaration of a module. */
const reserved = new Set(
  'arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof var void while with yield'.split(
    ' ',
  ),
);

/** `functions.ts`: one function for each of the agent, with the types of its arguments. */
export function functionStubs(functions: readonly ImportedFunction[]): string {
  const head =
    '// The functions of the agent. `vestra dev` and `vestra functions serve functions.ts` answer its calls with them.\n';
  return [head, ...functions.map(stubOf)].join('\n');
}

function stubOf({ name, description, input, notes }: ImportedFunction): string {
  const lines = [...description.split('\n'), ...(notes.length > 0 ? ['', ...notes] : [])];
  const comment = lines.map((line) => ` * ${line.replaceAll('*/', '*\\/')}`.trimEnd()).join('\n');
  const inner = reserved.has(name) ? `${name}_` : name;
  const isPlain = inner === name;
  return [
    `/**\n${comment}\n */`,
    `${isPlain ? 'export ' : ''}async function ${inner}(input: ${typeOf(input, 0)}): Promise<unknown> {`,
    `  throw new Error('${name} is not written yet.');`,
    '}',
    ...(isPlain ? [] : [`export { ${inner} as ${name} };`]),
    '',
  ].join('\n');
}

const simple: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
};

const deepest = 6;

/** The TypeScript type of a JSON Schema; `unknown` for what it does not say. */
function typeOf(schema: unknown, depth: number): string {
  if (!isMap(schema) || depth > deepest) return 'unknown';
  const choices = listIn(schema.enum);
  const isSimple = (value: unknown) => value === null || ['string', 'number', 'boolean'].includes(typeof value);
  if (choices.length > 0 && choices.every(isSimple)) return choices.map((value) => JSON.stringify(value)).join(' | ');
  const types = Array.isArray(schema.type) ? textsIn(schema.type) : [textIn(schema.type)];
  return [...new Set(types.map((type) => typeOfOne(type, schema, depth)))].join(' | ');
}

function typeOfOne(type: string, schema: LooseMap, depth: number): string {
  if (type === 'array') return `Array<${typeOf(schema.items, depth + 1)}>`;
  if (type !== 'object') return rowOf(simple, type) ?? 'unknown';
  const required = new Set(textsIn(schema.required));
  const fields = Object.entries(mapIn(schema.properties)).map(
    ([name, field]) => `${JSON.stringify(name)}${required.has(name) ? '' : '?'}: ${typeOf(field, depth + 1)}`,
  );
  return fields.length === 0 ? 'Record<string, unknown>' : `{ ${fields.join('; ')} }`;
}
