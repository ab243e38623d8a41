import type { z } from 'zod';
import recorded from '../../examples/answers.json' with { type: 'json' };
import type { RouteRow } from '../api.ts';
import type { ExampleCall } from '../examples/step.ts';
import { story } from '../examples/story.ts';
import { sessionAccessOf } from '../route.ts';
import { codeSamples } from './code-samples.ts';
import { failuresOf } from './error-schemas.ts';
import { families } from './families.ts';
import { impliedErrors } from './implied-errors.ts';
import { type JsonSchema, toJsonSchema } from './json-schema.ts';
import { titleOf } from './operation-titles.ts';
import { hiddenFields } from './session-view.ts';

/**
 * The recorded response to the first call of each operation. `VESTRA_WRITE_EXAMPLES=1` with contract-examples.test.ts
 * records them.
 */
const answers: Readonly<Record<string, unknown>> = recorded;

/** The example of an operation: a call of the story and its recorded response. */
type Example = { call: ExampleCall; answer: unknown };

const calls = new Map<string, ExampleCall>();
for (const call of story) if (!calls.has(call.operation)) calls.set(call.operation, call);

function exampleOf(operation: string): Example | undefined {
  const call = calls.get(operation);
  if (!call) return undefined;
  return { call, answer: call.unsent ? call.unsent.answer : answers[operation] };
}

/** Converts one row of the table to an OpenAPI operation. */
export function operationOf(row: RouteRow) {
  const { name, family, route } = row;
  const codes = [...new Set([...impliedErrors(route), ...route.errors])];
  const example = exampleOf(name);
  return {
    operationId: name.replace('.', '_'),
    tags: [families[family].title],
    summary: titleOf(name),
    description: `${route.summary} ${route.description}`,
    security: securityOf(route),
    ...(route.auth === 'key' && {
      'x-scopes': route.scopes === 'any' ? ['any'] : [...route.scopes, 'all'],
    }),
    ...sessionOf(route),
    parameters: parametersOf(route, example),
    ...(route.body && { requestBody: requestBodyOf(route, example) }),
    responses: {
      ...successOf(route, example),
      ...failuresOf(codes, route.errorShape),
    },
    ...(example && { 'x-codeSamples': codeSamples(row, example.call) }),
  };
}

function securityOf(route: RouteRow['route']): Record<string, never[]>[] {
  if (route.auth === 'open') return [];
  if (route.auth === 'session') return [{ sessionToken: [] }];
  if (route.auth === 'console') return [{ consoleCookie: [] }];
  return [{ apiKey: [] }, { consoleCookie: [] }, ...(route.session ? [{ sessionToken: [] }] : [])];
}

/** The permissions of a session token for an operation. */
function sessionOf(route: RouteRow['route']) {
  const access = sessionAccessOf(route);
  if (!access) return {};
  const needs = access.needs === 'itself' ? [] : access.needs;
  return { 'x-session': { needs, sends: access.sends, hidden: hiddenFields(route) } };
}

function parametersOf(route: RouteRow['route'], example: Example | undefined) {
  const { params = {}, query = {}, headers = {} } = example?.call ?? {};
  const parameters = [
    ...fieldsOf(route.params, 'path', params),
    ...fieldsOf(route.query, 'query', query),
    ...fieldsOf(route.headers, 'header', headers),
  ];
  const takesKey = route.idempotent || route.passesIdempotencyKey;
  return takesKey ? [...parameters, idempotencyKey] : parameters;
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Your own text, such as a UUID: the same call with the same key within 24 hours happens once.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

function fieldsOf(
  schema: z.ZodObject | undefined,
  place: 'path' | 'query' | 'header',
  given: Readonly<Record<string, unknown>>,
) {
  if (!schema) return [];
  const { properties = {}, required = [] } = toJsonSchema(schema, 'input') as {
    properties?: Record<string, JsonSchema>;
    required?: string[];
  };
  const { properties: read = {} } = toJsonSchema(schema, 'output') as { properties?: Record<string, JsonSchema> };
  // Everything in a URL is text; the parsed type says more.
  const shown = (name: string, field: JsonSchema) =>
    ['integer', 'number', 'boolean'].includes(String(read[name]?.type)) ? (read[name] as JsonSchema) : field;
  return Object.entries(properties).map(([name, field]) => {
    const { description, ...rest } = shown(name, field);
    return {
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      description,
      schema: rest,
      ...(given[name] !== undefined && { example: given[name] }),
    };
  });
}

function requestBodyOf(route: RouteRow['route'], example: Example | undefined) {
  const content: Record<string, unknown> = {};
  for (const type of route.accepts ?? ['application/json']) {
    if (type !== 'application/json' && type !== 'application/x-www-form-urlencoded') {
      content[type] = { schema: uploads[type] };
      continue;
    }
    const schema = toJsonSchema(route.body as z.ZodType, 'input');
    content[type] = { schema, ...(example?.call.body !== undefined && { example: example.call.body }) };
  }
  return { required: !route.bodyOptional, content };
}

const file = {
  type: 'string',
  contentMediaType: 'application/octet-stream',
  description: 'The bytes of the file, with its name.',
};

const uploads: Record<string, JsonSchema> = {
  'multipart/form-data': { type: 'object', required: ['file'], properties: { file } },
  'application/zip': { ...file, description: 'The bytes of a zip.' },
};

function successOf(route: RouteRow['route'], example: Example | undefined) {
  const shown = example?.answer === undefined ? {} : { example: example.answer };
  const content: Record<string, unknown> = {};
  if (route.isJson !== false) content['application/json'] = { schema: answerSchema(route), ...shown };
  for (const type of route.produces ?? [])
    content[type] = { schema: producedAs(type, route), ...(route.isJson === false && shown) };
  const headers = { 'Request-Id': { $ref: '#/components/headers/RequestId' } };
  const statuses = [route.status, ...(route.alsoStatus ?? [])];
  return Object.fromEntries(statuses.map((status) => [status, { description: route.summary, headers, content }]));
}

function answerSchema({ response, dryRun }: RouteRow['route']): JsonSchema {
  const usual = toJsonSchema(response, 'output');
  return dryRun ? { anyOf: [usual, toJsonSchema(dryRun, 'output')] } : usual;
}

/** For a stream: the schema of each event's `data`. */
function producedAs(type: string, { streamed }: RouteRow['route']): JsonSchema {
  return type === 'text/event-stream' && streamed ? toJsonSchema(streamed, 'output') : { type: 'string' };
}
