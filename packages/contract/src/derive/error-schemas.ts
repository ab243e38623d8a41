import type { RouteRow } from '../api.ts';
import { errorRemedies } from '../error-remedies.ts';
import { type ErrorCode, errorCatalogue, errorTypes } from '../errors.ts';
import type { JsonSchema } from './json-schema.ts';

const codes = Object.keys(errorCatalogue) as ErrorCode[];

/** The meaning of a code and its remedy. */
const explained = (code: ErrorCode): string => `${errorCatalogue[code].message} ${errorRemedies[code]}`;

const code = { $ref: '#/components/schemas/ErrorCode', description: 'The exact cause: branch on it.' };
const requestId = { type: 'string', description: 'The id of the request, to quote to the operator.' };

export const errorSchemas: Readonly<Record<string, JsonSchema>> = {
  ErrorCode: {
    type: 'string',
    description: 'Every cause that an error can have.',
    enum: codes,
    'x-enumDescriptions': Object.fromEntries(codes.map((each) => [each, explained(each)])),
  },
  Error: body('Every error answers this body.', ['type', 'code', 'message', 'request_id'], {
    type: { type: 'string', enum: [...errorTypes], description: 'The kind of error; one for each HTTP status.' },
    code,
    message: {
      type: 'string',
      description: 'The cause as a sentence for people; it may change, so never branch on it.',
    },
    param: {
      type: 'string',
      description: 'The dotted path of the invalid field, such as `tools.0.input`; absent if there is no single one.',
    },
    names: {
      type: 'array',
      items: { type: 'string' },
      description: 'With `secret_missing`: the secrets to store first.',
    },
    deployments: {
      type: 'array',
      items: { type: 'string' },
      description: 'With `mcp_server_shared`: the other deployments that use the server.',
    },
    errors: {
      type: 'array',
      description: 'With a rejected deployment file: every fault that was found.',
      items: {
        type: 'object',
        required: ['code', 'param', 'message'],
        properties: {
          code,
          param: { type: 'string', description: 'The dotted path of the invalid field.' },
          message: { type: 'string', description: 'The fault as a sentence.' },
        },
      },
    },
    partial: { description: 'With `timeout` of a browser fetch: the results so far.' },
    retry_after_ms: { type: 'integer', description: 'With `browser_busy` and `rate_limited`: how long to wait.' },
    request_id: requestId,
  }),
  OpenaiError: body(
    'Errors of the routes under /v1/openai, worded as OpenAI’s clients read them.',
    ['message', 'type', 'param', 'code', 'request_id'],
    {
      message: { type: 'string', description: 'The cause as a sentence for people.' },
      type: { type: 'string', description: 'The kind of error in OpenAI’s format.' },
      param: { type: ['string', 'null'], description: 'The invalid field; null if there is no single one.' },
      code,
      request_id: requestId,
    },
  ),
  OauthError: {
    type: 'object',
    description: 'Errors of the routes under /v1/oauth, in the format of RFC 6749.',
    required: ['error', 'error_description', 'code', 'request_id'],
    properties: {
      error: { type: 'string', description: 'The OAuth error, such as `invalid_grant`.' },
      error_description: { type: 'string', description: 'The cause as a sentence for people.' },
      code,
      request_id: requestId,
    },
  },
};

function body(description: string, required: string[], properties: Record<string, JsonSchema>): JsonSchema {
  return {
    type: 'object',
    description,
    required: ['error'],
    properties: { error: { type: 'object', description: 'The details of the error.', required, properties } },
  };
}

/** The error responses of an operation: by status, each with its possible codes. */
export function failuresOf(possible: readonly ErrorCode[], shape: RouteRow['route']['errorShape']) {
  const schema = shape === undefined ? 'Error' : shape === 'openai' ? 'OpenaiError' : 'OauthError';
  const byStatus = Map.groupBy(possible, (each) => errorCatalogue[each].status);
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, ofStatus]) => [
        status,
        {
          description: ofStatus.map((each) => `\`${each}\`: ${errorCatalogue[each].message}`).join('\n\n'),
          content: {
            'application/json': {
              schema: {
                allOf: [
                  { $ref: `#/components/schemas/${schema}` },
                  shape === 'oauth'
                    ? { properties: { code: { enum: ofStatus } } }
                    : { properties: { error: { properties: { code: { enum: ofStatus } } } } },
                ],
              },
            },
          },
        },
      ]),
  );
}
