import type { ArgumentShape } from './argument-shape.ts';
import type { Binding } from './bindings.ts';
import { misuse } from './fault.ts';
import { readValue, type TypedValue } from './read-value.ts';
import type { Terminal } from './terminal.ts';

/** The typed command line: positional words in order, and flags by commander's names. */
export type TypedArguments = {
  words: readonly (string | readonly string[] | undefined)[];
  flags: Readonly<Record<string, unknown>>;
};

export type Request = { params: Record<string, string>; query: Record<string, string>; body: unknown };

type Place = Pick<Terminal, 'cwd' | 'stdin'>;

/** The typed values, by their names in the command table. */
export async function readTyped(
  place: Place,
  bindings: readonly Binding[],
  typed: TypedArguments,
): Promise<Map<Binding, unknown>> {
  const values = new Map<Binding, unknown>();
  const positions = bindings.filter(({ isPositional }) => isPositional);
  for (const binding of bindings) {
    const at = positions.indexOf(binding);
    const given = (at === -1 ? undefined : typed.words[at]) ?? typed.flags[binding.attribute];
    if (given === undefined || (Array.isArray(given) && given.length === 0)) continue;
    values.set(
      binding,
      await readValue(place, nameOf(binding), binding.shape, wordsAsText(binding, given as TypedValue)),
    );
  }
  return values;
}

/** Builds the request of a command that calls one route. Flags override the fields of `--body`. */
export async function buildRequest(
  place: Place,
  bindings: readonly Binding[],
  typed: TypedArguments,
): Promise<Request> {
  const values = await readTyped(place, bindings, typed);
  const whole = typed.flags.body === undefined ? undefined : await readBody(place, typed.flags.body as string);
  const request: Request = { params: {}, query: {}, body: whole };
  for (const [{ argument }, value] of values) {
    const { place: where, field } = argument;
    if (where === null) continue;
    if (field === null) request.body = value;
    else if (where === 'body') request.body = { ...(request.body as object | undefined), [field]: value };
    else request[where][field] = String(value);
  }
  if (typed.flags.file === undefined) refuseMissing(bindings, values, whole);
  return request;
}

function refuseMissing(bindings: readonly Binding[], values: Map<Binding, unknown>, whole: unknown): void {
  const missing = bindings.filter((binding) => {
    if (!binding.isRequired || values.has(binding)) return false;
    const { place, field } = binding.argument;
    return !(place === 'body' && field !== null && isObject(whole) && field in whole);
  });
  const [first] = missing;
  if (first) throw misuse(`Missing: ${missing.map(nameOf).join(', ')}.`, nameOf(first));
}

const bodyShape: ArgumentShape = {
  kind: 'json',
  choices: [],
  alone: [],
  isNullable: false,
  description: '',
  bounds: '',
  pattern: '',
  default: undefined,
};

async function readBody(place: Place, given: string): Promise<unknown> {
  const body = await readValue(place, '--body', bodyShape, given);
  if (!isObject(body)) throw misuse('--body expects a JSON object.', '--body');
  return body;
}

/** `vestra ask how are you` needs no quotes. */
function wordsAsText({ isPositional, shape }: Binding, given: TypedValue): TypedValue {
  return isPositional && shape.kind === 'text' && typeof given === 'object' ? given.join(' ') : given;
}

const nameOf = ({ isPositional, flag, argument }: Binding) => (isPositional ? `<${argument.name}>` : flag);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
