/** Generates a group of methods for a family of routes, once per client: `vestra/resources/<family>.py`. */
import type { RouteRow } from '@vestra/contract/api';
import { type AnswerTypes, answerName } from './answers.ts';
import type { InputTypes } from './inputs.ts';
import { docstring, isIdentifier, pascal, quoted, safe, singular, snake } from './names.ts';
import { isAnything, isNullable, type Schema, schemaOf } from './schemas.ts';

type Parameter = {
  field: string;
  name: string;
  type: string;
  place: 'path' | 'query' | 'body' | 'null' | 'call';
  /** The call is impossible without it. */
  isNeeded: boolean;
  description: string;
};

type Returned = { sync: string; async: string };

type Method = {
  name: string;
  row: RouteRow;
  parameters: Parameter[];
  /** The helper that makes the call, and its first arguments. */
  call: { way: '_call' | '_page' | '_stream' | '_streamable'; answer: string };
  returns: Returned;
  /** A parameter value that changes the type of the response. */
  otherwise: { parameter: string; value: string; returns: Returned } | null;
};

export function familyModule(
  family: string,
  rows: readonly RouteRow[],
  answers: AnswerTypes,
  inputs: InputTypes,
): string {
  const methods = rows.map((row) => methodOf(row, answers, inputs));
  const name = pascal(family);
  const body = [
    [`class ${name}(Group):`, ...methods.map((method) => written(method, false))].join('\n'),
    [`class Async${name}(AsyncGroup):`, ...methods.map((method) => written(method, true))].join('\n'),
  ].join('\n\n\n');
  return `${[
    '"""Written by `npm run fix` from the contract."""',
    '',
    'from __future__ import annotations',
    '',
    ...importsOf(body),
    '',
    '',
  ].join('\n')}${body}\n`;
}

function importsOf(body: string): string[] {
  const uses = (word: string) => new RegExp(`\\b${word}\\b`).test(body.replace(/"""[\s\S]*?"""/g, ''));
  const from = (module: string, names: readonly string[]) => {
    const used = names.filter(uses);
    return used.length > 0 ? [`from ${module} import ${used.join(', ')}`] : [];
  };
  return [
    ...from('datetime', ['date', 'datetime']),
    ...from('typing', ['Any', 'Literal', 'Mapping', 'Sequence', 'cast', 'overload']),
    '',
    ...from('..', ['params', 'types']),
    ...from('.._files', ['FileInput']),
    ...from('.._group', ['AsyncGroup', 'Group']),
    ...from('.._omit', ['OMIT', 'Omit']),
    ...from('.._pages', ['AsyncPages', 'Page']),
    ...from('.._streams', ['AsyncStream', 'Stream']),
  ];
}

function methodOf(row: RouteRow, answers: AnswerTypes, inputs: InputTypes): Method {
  const { route, family, operation } = row;
  const name = snake(operation);
  const parameters = [...fieldsOf(row, inputs), ...callOptions(row)];
  const schema = schemaOf(route.response, 'output');
  const common = { name, row, parameters };
  const item = schema.properties?.next_cursor && schema.properties.data?.items;
  const stem = answerName(row.name, `${singular(pascal(family))}${pascal(operation)}`);

  if (route.streams && family === 'conversations') {
    const event = 'types.StreamEvent';
    const stream = streamOf(event);
    if (operation === 'events') {
      const page = `types.${answers.typeOf(schema, 'ConversationEvents')}`;
      const otherwise = { parameter: 'format', value: '"json"', returns: { sync: page, async: page } };
      return { ...common, call: { way: '_streamable', answer: page }, returns: stream, otherwise };
    }
    const answer = qualified(answers.typeOf(schema, stem));
    const otherwise = { parameter: 'stream', value: 'True', returns: stream };
    return { ...common, call: { way: '_streamable', answer }, returns: { sync: answer, async: answer }, otherwise };
  }
  if (route.streams && route.method === 'GET' && !route.query?.shape.stream) {
    const answer = qualified(answers.typeOf(schema, stem));
    return { ...common, call: { way: '_stream', answer }, returns: streamOf(answer), otherwise: null };
  }
  // Other clients' formats are returned unparsed.
  if (route.streams)
    return {
      ...common,
      call: { way: '_streamable', answer: 'object' },
      returns: { sync: 'Any', async: 'Any' },
      otherwise: null,
    };
  if (item) {
    const type = qualified(answers.typeOf(item, singular(pascal(family))));
    return {
      ...common,
      call: { way: '_page', answer: type },
      returns: { sync: `Page[${type}]`, async: `AsyncPages[${type}]` },
      otherwise: null,
    };
  }
  const answer = qualified(answers.typeOf(schema, stem));
  const returns = { sync: answer, async: answer };
  const otherwise = route.produces?.includes('application/yaml')
    ? { parameter: 'format', value: '"yaml"', returns: { sync: 'str', async: 'str' } }
    : null;
  return { ...common, call: { way: otherwise ? '_streamable' : '_call', answer }, returns, otherwise };
}

const streamOf = (event: string): Returned => ({ sync: `Stream[${event}]`, async: `AsyncStream[${event}]` });

/** A name from `types`, or a Python built-in. */
const qualified = (type: string) => (/^[A-Z]/.test(type) && type !== 'Any' ? `types.${type}` : type);

function fieldsOf(row: RouteRow, inputs: InputTypes): Parameter[] {
  const { route, family } = row;
  const stem = singular(pascal(family));
  const parameters: Parameter[] = [];
  const add = (schema: Schema, place: 'path' | 'query' | 'body', isFree: boolean) => {
    const required = new Set(schema.required);
    for (const [field, inner] of Object.entries(schema.properties ?? {})) {
      if (!isIdentifier(field)) continue;
      const isNeeded = place === 'path' || (required.has(field) && !isFree);
      const type = inputs.typeOf(inner, `${stem}${pascal(field)}`, 'params.');
      const takesNull = place === 'body' && (isNullable(inner) || isAnything(inner));
      parameters.push({
        field,
        name: safe(field),
        type,
        place: takesNull ? 'null' : place,
        isNeeded,
        description: inner.description ?? '',
      });
    }
  };
  const accepts = route.accepts ?? ['application/json'];
  const upload = (field: string, description: string, isNeeded: boolean) =>
    parameters.push({ field, name: field, type: 'FileInput', place: 'body', isNeeded, description });

  if (route.params) add(schemaOf(route.params, 'input'), 'path', false);
  if (route.query) add(readAs(route.query), 'query', false);
  if (accepts.includes('multipart/form-data'))
    upload('file', 'The file: bytes, a path, an open file, or `(name, bytes)`.', accepts.length === 1);
  if (accepts.includes('application/zip')) upload('zip', 'The folder as a zip.', false);
  if (!route.body) return parameters;
  const body = schemaOf(route.body, 'input');
  const isFixed = body.type === 'object' && body.additionalProperties === false;
  if (isFixed) add(body, 'body', accepts.length > 1);
  else
    parameters.push({
      field: 'body',
      name: 'body',
      type: 'object',
      place: 'null',
      isNeeded: !route.bodyOptional,
      description: 'The body as it is sent.',
    });
  return parameters;
}

/** Everything in a URL is text; the parsed type says more. */
function readAs(query: NonNullable<RouteRow['route']['query']>): Schema {
  const [written, read] = [schemaOf(query, 'input'), schemaOf(query, 'output')];
  const properties = Object.entries(written.properties ?? {}).map(([name, field]) => {
    const meant = read.properties?.[name];
    const isValue =
      ['integer', 'number', 'boolean'].includes(String(meant?.type)) ||
      /^\^\(0\|\[1-9\]|^\^\\d\{/.test(patternOf(field));
    return [
      name,
      isValue
        ? { ...meant, type: meant?.type ?? 'integer', description: field.description ?? meant?.description }
        : field,
    ];
  });
  return { ...written, properties: Object.fromEntries(properties) };
}

const patternOf = (field: Schema) => String((field as { pattern?: unknown }).pattern ?? '');

function callOptions({ route }: RouteRow): Parameter[] {
  const option = (name: string, type: string, description: string): Parameter => ({
    field: name,
    name,
    type,
    place: 'call',
    isNeeded: false,
    description,
  });
  const takes = (header: string) => Object.keys(route.headers?.shape ?? {}).includes(header);
  return [
    ...(takes('Prefer') ? [option('wait', 'float', 'Holds the call for the final answer: 1 to 120 seconds.')] : []),
    ...(takes('Service-User') ? [option('service_user', 'str', 'The user the agent works for.')] : []),
    ...(route.idempotent ? [option('idempotency_key', 'str', 'Made by the client where none is given.')] : []),
    option('timeout', 'float', ''),
    option('extra_headers', 'Mapping[str, str]', ''),
  ];
}

function written(method: Method, isAsync: boolean): string {
  const { otherwise } = method;
  if (!otherwise) return definition(method, isAsync);
  const { parameter, value, returns } = otherwise;
  const rest = (isFirst: boolean) =>
    method.parameters.map((each) =>
      each.name === parameter
        ? { ...each, type: isFirst ? `Literal[${value}]` : without(value), isNeeded: isFirst }
        : each,
    );
  return [
    definition({ ...method, parameters: rest(true), returns }, isAsync, 'overload'),
    definition({ ...method, parameters: rest(false) }, isAsync, 'overload'),
    definition({ ...method, returns: { sync: 'Any', async: 'Any' } }, isAsync),
  ].join('\n');
}

/** The parameter's type for the usual response. */
const without = (value: string) =>
  value === 'True' ? 'Literal[False]' : value === '"yaml"' ? 'Literal["json"]' : 'None';

function definition(method: Method, isAsync: boolean, kind: 'whole' | 'overload' = 'whole'): string {
  const { name, parameters, returns, row } = method;
  const positional = parameters.filter(({ place }) => place === 'path');
  const named = parameters.filter(({ place }) => place !== 'path');
  // Required parameters come first, regardless of the contract's order.
  const sorted = [...named.filter(({ isNeeded }) => isNeeded), ...named.filter(({ isNeeded }) => !isNeeded)];
  const given = [
    'self',
    ...positional.map((each) => `${each.name}: ${each.type}`),
    '*',
    ...sorted.map((each) => `${each.name}: ${typeWithDefault(each)}`),
  ];
  const isAwaited = isAsync && method.call.way !== '_page';
  const head = `    ${isAwaited ? 'async ' : ''}def ${name}(`;
  const returned = isAsync ? returns.async : returns.sync;
  const signature = [head, ...given.map((each) => `        ${each},`), `    ) -> ${returned}:`];
  if (kind === 'overload')
    return ['    @overload', ...signature.slice(0, -1), `${signature.at(-1)} ...`, ''].join('\n');
  const told = [...positional, ...sorted].filter(({ description }) => description !== '');
  const doc = docstring(
    [
      row.route.summary,
      row.route.description,
      ...(told.length > 0
        ? [['Args:', ...told.map((each) => `    ${each.name}: ${oneLine(each.description)}`)].join('\n')]
        : []),
      ...(row.route.errors.length > 0
        ? [`Fails with ${row.route.errors.map((code) => `\`${code}\``).join(', ')}.`]
        : []),
    ],
    '        ',
  );
  return [...signature, ...doc, ...callOf(method, isAwaited), ''].join('\n');
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ');

function typeWithDefault({ type, isNeeded, place }: Parameter): string {
  if (isNeeded) return type;
  if (place === 'null') return `${type} | Omit = OMIT`;
  return `${/(^| \| )None$/.test(type) ? type : `${type} | None`} = None`;
}

/** To a type checker, a union and Any are not classes, but both are used like one. */
function classOf(answer: string): string {
  if (answer === 'Any') return 'cast(Any, object)';
  return answer === 'types.WebhookEvent' ? `cast(Any, ${answer})` : answer;
}

function callOf({ row, parameters, call }: Method, isAwaited: boolean): string[] {
  const { route } = row;
  const placed = (place: Parameter['place']) => {
    const fields = parameters
      .filter((each) => each.place === place)
      .map((each) => `${quoted(each.field)}: ${each.name}`);
    if (fields.length === 0) return null;
    const line = `{${fields.join(', ')}}`;
    if (line.length < 80) return line;
    return ['{', ...fields.map((field) => `                ${field},`), '            }'].join('\n');
  };
  const isWhole = parameters.some((each) => each.field === 'body' && each.place === 'null');
  const words: [string, string | null][] = [
    ['path', placed('path')],
    ['query', placed('query')],
    ['body', placed('body')],
    ...(isWhole ? [['whole', 'body'] as [string, string]] : [['nullable', placed('null')] as [string, string | null]]),
    ['takes_body', route.body && !route.bodyOptional && !isWhole ? 'True' : null],
    ['idempotent', route.idempotent ? 'True' : null],
    ...parameters.filter(({ place }) => place === 'call').map(({ name }): [string, string] => [name, name]),
  ];
  return [
    `        return ${isAwaited ? 'await ' : ''}self.${call.way}(`,
    `            ${classOf(call.answer)},`,
    `            ${quoted(`${row.family}.${row.operation}`)},`,
    `            ${quoted(route.method)},`,
    `            ${quoted(route.path)},`,
    ...words.flatMap(([word, value]) => (value === null ? [] : [`            ${word}=${value},`])),
    '        )',
  ];
}
