import { z } from 'zod';
import { type RouteRow, routes } from '../api.ts';
import { type ErrorCode, errorCatalogue, errorTypes } from '../errors.ts';
import { consoleCookie } from '../members.ts';
import { sessionAccessOf } from '../route.ts';
import { impliedErrors } from './implied-errors.ts';
import { type JsonSchema, nameResources } from './named-schemas.ts';
import { hiddenFields } from './session-view.ts';

/** OpenAPI 3.1 of the whole table. */
export function openapi({ version, url }: { version: string; url: string }) {
  const operations = routes.map((row) => ({ row, operation: operationOf(row) }));
  const paths: Record<string, Record<string, unknown>> = {};
  for (const { row, operation } of operations) {
    const path = paths[row.route.path] ?? {};
    path[row.route.method.toLowerCase()] = operation;
    paths[row.route.path] = path;
  }
  const named = nameResources(paths);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Vestra',
      version,
      summary: 'Host an AI agent: configure it once, run it for every user.',
      description: introduction,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url }],
    security: [{ apiKey: [] }],
    tags: [...new Set(routes.map(({ family }) => tagOf(family)))].map((name) => ({ name })),
    paths: named.value,
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key, `vk_test_…` or `vk_live_…`.' },
        sessionToken: { type: 'http', scheme: 'bearer', description: 'A session token, `vst_…`.' },
        consoleCookie: { type: 'apiKey', in: 'cookie', name: consoleCookie },
      },
      headers: {
        RequestId: { description: 'The id of the request, to quote to the operator.', schema: { type: 'string' } },
      },
      schemas: { Error: errorSchema, OpenaiError: openaiErrorSchema, ...named.schemas },
    },
  };
}

const introduction =
  'Send an API key as `Authorization: Bearer <API_KEY>`. A test key sees test users, test money and the draft of a ' +
  'deployment; a live key the live ones. A session token opens what carries `x-session`: one of its `needs` must be ' +
  'switched on, it may send the fields of `sends`, and its answers leave out those of `hidden`. Lists take `limit` and ' +
  '`cursor`; creates take an `Idempotency-Key`. Every error answers one body; branch on its `code`.';

/** `mcpServers` → `MCP servers` is for people; `operationId` is for programs. */
const tagOf = (family: string) => {
  const words = family.replace(/([A-Z])/g, ' $1').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1).replace('mcp', 'MCP');
};

function operationOf({ name, family, route }: RouteRow) {
  const codes = [...new Set([...impliedErrors(route), ...route.errors])];
  return {
    operationId: name.replace('.', '_'),
    tags: [tagOf(family)],
    summary: route.summary,
    security: securityOf(route),
    ...(route.auth === 'key' && {
      'x-scopes': route.scopes === 'any' ? ['any'] : [...route.scopes, 'all'],
    }),
    ...sessionOf(route),
    parameters: parametersOf(route),
    ...(route.body && { requestBody: requestBodyOf(route) }),
    responses: { ...successOf(route), ...failuresOf(codes, route.errorShape === 'openai' ? 'OpenaiError' : 'Error') },
  };
}

function securityOf(route: RouteRow['route']): Record<string, never[]>[] {
  if (route.auth === 'open') return [];
  if (route.auth === 'session') return [{ sessionToken: [] }];
  if (route.auth === 'console') return [{ consoleCookie: [] }];
  return [{ apiKey: [] }, { consoleCookie: [] }, ...(route.session ? [{ sessionToken: [] }] : [])];
}

/** What a session token may do with an operation that takes one. */
function sessionOf(route: RouteRow['route']) {
  const access = sessionAccessOf(route);
  if (!access) return {};
  const needs = access.needs === 'itself' ? [] : access.needs;
  return { 'x-session': { needs, sends: access.sends, hidden: hiddenFields(route) } };
}

function parametersOf(route: RouteRow['route']) {
  const parameters = [
    ...fieldsOf(route.params, 'path'),
    ...fieldsOf(route.query, 'query'),
    ...fieldsOf(route.headers, 'header'),
  ];
  if (route.idempotent) {
    parameters.push({
      name: 'Idempotency-Key',
      in: 'header',
      required: false,
      schema: { type: 'string', minLength: 1, maxLength: 255 },
    });
  }
  return parameters;
}

function fieldsOf(schema: z.ZodObject | undefined, place: 'path' | 'query' | 'header') {
  if (!schema) return [];
  const { properties = {}, required = [] } = toSchema(schema, 'input') as {
    properties?: Record<string, JsonSchema>;
    required?: string[];
  };
  const { properties: read = {} } = toSchema(schema, 'output') as { properties?: Record<string, JsonSchema> };
  // Everything in an address is text; what it is read as says more.
  const shown = (name: string, field: JsonSchema) =>
    ['integer', 'number', 'boolean'].includes(String(read[name]?.type)) ? (read[name] as JsonSchema) : field;
  return Object.entries(properties).map(([name, field]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: shown(name, field),
  }));
}

function requestBodyOf(route: RouteRow['route']) {
  const content: Record<string, unknown> = {};
  for (const type of route.accepts ?? ['application/json']) {
    content[type] = {
      schema: type === 'application/json' ? toSchema(route.body as z.ZodType, 'input') : uploads[type],
    };
  }
  return { required: !route.bodyOptional, content };
}

const file = { type: 'string', contentMediaType: 'application/octet-stream' };

const uploads: Record<string, JsonSchema> = {
  'multipart/form-data': { type: 'object', required: ['file'], properties: { file } },
  'application/zip': file,
};

function successOf(route: RouteRow['route']) {
  const content: Record<string, unknown> = { 'application/json': { schema: toSchema(route.response, 'output') } };
  for (const type of route.produces ?? []) content[type] = { schema: { type: 'string' } };
  const headers = { 'Request-Id': { $ref: '#/components/headers/RequestId' } };
  const statuses = [route.status, ...(route.alsoStatus ?? [])];
  return Object.fromEntries(statuses.map((status) => [status, { description: route.summary, headers, content }]));
}

function failuresOf(codes: readonly ErrorCode[], schema: 'Error' | 'OpenaiError') {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const { status } = errorCatalogue[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, ofStatus]) => [
        status,
        {
          description: ofStatus.map((code) => `\`${code}\`: ${errorCatalogue[code].message}`).join('\n\n'),
          content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } },
        },
      ]),
  );
}

const errorSchema: JsonSchema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['type', 'code', 'message', 'request_id'],
      properties: {
        type: { enum: [...errorTypes] },
        code: { type: 'string', enum: Object.keys(errorCatalogue) },
        message: { type: 'string' },
        param: { type: 'string' },
        names: { type: 'array', items: { type: 'string' } },
        deployments: { type: 'array', items: { type: 'string' } },
        errors: {
          type: 'array',
          items: {
            type: 'object',
            required: ['code', 'param', 'message'],
            properties: { code: { type: 'string' }, param: { type: 'string' }, message: { type: 'string' } },
          },
        },
        partial: {},
        retry_after_ms: { type: 'integer' },
        request_id: { type: 'string' },
      },
    },
  },
};

const openaiErrorSchema: JsonSchema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['message', 'type', 'param', 'code', 'request_id'],
      properties: {
        message: { type: 'string' },
        type: { type: 'string' },
        param: { type: ['string', 'null'] },
        code: { type: 'string', enum: Object.keys(errorCatalogue) },
        request_id: { type: 'string' },
      },
    },
  },
};

function toSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema, ...rest } = z.toJSONSchema(schema, { target: 'draft-2020-12', io, unrepresentable: 'any' });
  return rest as JsonSchema;
}
