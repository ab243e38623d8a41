import { fail } from '@vestra/contract/errors';
import { jsonBytes } from '@vestra/contract/json-bytes';
import { forcedCall } from '../chat-translation/forced-call.ts';
import { type ChatQuestion, callerTools, type DeclaredFunction } from '../chat-translation/question.ts';

/** The choice of either API in one form. `names`: the functions that may be called; null: all of them. */
export type ToolChoice = { mode: 'auto' | 'none' | 'required'; names: readonly string[] | null };

type WrittenChoice =
  | 'auto'
  | 'none'
  | 'required'
  | { type: 'function'; name?: unknown; function?: { name: string } }
  | { type: 'allowed_tools'; mode?: unknown; tools?: unknown; allowed_tools?: { mode: string; tools: unknown[] } }
  | null
  | undefined;

/** Reads `tool_choice` of chat completions and of responses, which nests the names differently. */
export function readToolChoice(given: WrittenChoice): ToolChoice {
  if (given === null || given === undefined) return { mode: 'auto', names: null };
  if (typeof given === 'string') return { mode: given, names: null };
  if (given.type === 'function') return { mode: 'required', names: [nameIn(given)] };
  const { mode, tools } = given.allowed_tools ?? (given as { mode: string; tools: unknown[] });
  return { mode: mode === 'required' ? 'required' : 'auto', names: tools.map(nameIn) };
}

const nameIn = (choice: unknown): string => {
  const { name, function: inner } = choice as { name?: string; function?: { name: string } };
  return inner?.name ?? name ?? '';
};

/** The functions that the agent is offered, or the schema of an answer that must be a call. */
export function chosenTools(
  given: readonly DeclaredFunction[],
  { mode, names }: ToolChoice,
): Pick<ChatQuestion, 'tools' | 'briefSchema'> & { callSchema: ChatQuestion['outputSchema'] } {
  const unknown = names?.find((name) => !given.some((each) => each.name === name));
  if (unknown !== undefined) {
    throw fail('invalid_request', {
      param: 'tool_choice',
      message: `\`${unknown.slice(0, 100)}\` is not one of \`tools\`.`,
    });
  }
  const allowed = names === null ? given : given.filter(({ name }) => names.includes(name));
  if (mode !== 'required') return { tools: callerTools(mode === 'none' ? [] : allowed), callSchema: undefined };
  const [only] = allowed;
  if (!only) {
    throw fail('invalid_request', { param: 'tool_choice', message: 'Send `tools` for the call that is required.' });
  }
  const isOne = allowed.every(({ name }) => name === only.name);
  // An open turn that waits for results continues with the names under which its functions were declared.
  const namesHere = { ...callerTools(given).names, [forcedCall]: isOne ? only.name : '' };
  const tools = { declared: [], names: namesHere };
  return isOne ? { tools, callSchema: schemaOf(only) } : { tools, ...schemasOfChoice(allowed) };
}

type Schema = Record<string, unknown>;

/** The answer is the arguments. The description tells the model what they are for. */
const schemaOf = (called: DeclaredFunction): Schema => ({
  ...called.parameters,
  type: 'object',
  description: `The arguments for a call of the function \`${called.name}\`.${aboutOf(called)}`,
});

const aboutOf = ({ description }: DeclaredFunction) =>
  description?.trim() ? ` ${description.trim().slice(0, maxAbout).toWellFormed()}` : '';

const maxAbout = 4000;

/** The limit of `output_schema`. */
const maxSchemaBytes = 32 * 1024;

/** The answer names a function and has its arguments. The brief schema is used if the whole one is too large. */
function schemasOfChoice(functions: readonly DeclaredFunction[]): { callSchema: Schema; briefSchema: Schema } {
  const briefSchema = choiceOf(functions, (each) => ({ $defs: {}, schema: fieldsOf(each) }));
  if (jsonBytes(briefSchema) > maxSchemaBytes) {
    throw fail('output_schema_too_large', {
      param: 'tool_choice',
      message: `A required call of one of these functions needs a schema of more than ${maxSchemaBytes / 1024} KB: name one function, or send fewer.`,
    });
  }
  const whole = choiceOf(functions, argumentsIn);
  return { callSchema: jsonBytes(whole) <= maxSchemaBytes ? whole : briefSchema, briefSchema };
}

type Arguments = { schema: Schema; $defs: Schema };

function choiceOf(
  functions: readonly DeclaredFunction[],
  argumentsOf: (each: DeclaredFunction, prefix: string) => Arguments,
): Schema {
  const parts = functions.map((each, at) => ({ each, ...argumentsOf(each, `f${at}_`) }));
  const $defs = Object.assign({}, ...parts.map((part) => part.$defs)) as Schema;
  const calls = parts.map(({ each, schema }) => ({
    type: 'object',
    description: `A call of \`${each.name}\`.${aboutOf(each).slice(0, 1000).toWellFormed()}`,
    properties: { function: { type: 'string', enum: [each.name] }, arguments: schema },
    required: ['function', 'arguments'],
    additionalProperties: false,
  }));
  return {
    type: 'object',
    description: 'The one function to call now, with its arguments.',
    properties: { call: { anyOf: calls } },
    required: ['call'],
    additionalProperties: false,
    ...(Object.keys($defs).length > 0 && { $defs }),
  };
}

/**
 * The parameters below another root: their definitions move to that root under names with a prefix. Other references
 * cannot be moved, so that only the names of the arguments are left.
 */
function argumentsIn(each: DeclaredFunction, prefix: string): Arguments {
  const { $defs, definitions, $schema, $id, ...schema } = (each.parameters ?? {}) as Record<string, Schema | undefined>;
  let isMoved = true;
  const moved = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(moved);
    if (typeof node !== 'object' || node === null) return node;
    return Object.fromEntries(
      Object.entries(node).map(([key, value]) => {
        if (key !== '$ref' || typeof value !== 'string') return [key, moved(value)];
        const name = /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(value)?.[1];
        isMoved &&= name !== undefined;
        return [key, `#/$defs/${prefix}${name}`];
      }),
    );
  };
  const shared = Object.entries({ ...definitions, ...$defs }).map(([name, value]) => [prefix + name, moved(value)]);
  const own = { ...(moved(schema) as Schema), type: 'object' };
  return isMoved ? { schema: own, $defs: Object.fromEntries(shared) } : { schema: fieldsOf(each), $defs: {} };
}

/** Only the names of the arguments, which cost no subschemas. The client checks their values. */
const fieldsOf = ({ parameters }: DeclaredFunction): Schema => ({
  type: 'object',
  description: `Its arguments: ${Object.keys((parameters?.properties ?? {}) as object).join(', ')}`,
  ...(Array.isArray(parameters?.required) && { required: parameters.required }),
});
