import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { PublishedSchema } from './published/versions.ts';

type Body = Record<string, unknown>;
type SchemaNode = Record<string, unknown> & { properties?: Record<string, unknown>; required?: string[] };

/** A request body of one kind of endpoint, and the vendor's schema for it. */
type Endpoint = {
  path: RegExp;
  schema: PublishedSchema;
  /** Returns the body in the form of the schema, or the fault that the schema does not cover. */
  convert?: (body: Body) => Body | string;
  error: (message: string) => object;
};

const ofAnthropic = (message: string) => ({ type: 'error', error: { type: 'invalid_request_error', message } });
const ofOpenai = (message: string) => ({
  error: { message, type: 'invalid_request_error', param: null, code: 'unknown_parameter' },
});
const ofGoogle = (message: string) => ({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } });

/** In the clouds, the model is part of the address, and the version part of the body. */
const inCloud =
  (version: string, { hasStream }: { hasStream: boolean }) =>
  ({ anthropic_version, anthropic_beta, ...body }: Body): Body | string => {
    if (anthropic_version !== version) return `anthropic_version: Input should be '${version}'`;
    if (anthropic_beta !== undefined && !Array.isArray(anthropic_beta)) return 'anthropic_beta: Input should be a list';
    if ('model' in body) return 'model: Extra inputs are not permitted';
    if ('stream' in body !== hasStream) return 'stream: Extra inputs are not permitted';
    return { ...body, model: 'claude', stream: true };
  };

const endpoints: readonly Endpoint[] = [
  {
    path: /\/invoke-with-response-stream$/,
    schema: 'anthropic-messages',
    convert: inCloud('bedrock-2023-05-31', { hasStream: false }),
    error: (message) => ({ message }),
  },
  {
    path: /\/publishers\/anthropic\/models\/[^/]+:streamRawPredict$/,
    schema: 'anthropic-messages',
    convert: inCloud('vertex-2023-10-16', { hasStream: true }),
    error: ofAnthropic,
  },
  { path: /\/messages$/, schema: 'anthropic-messages', error: ofAnthropic },
  { path: /\/responses$/, schema: 'openai-responses', error: ofOpenai },
  { path: /\/chat\/completions$/, schema: 'openai-chat', error: ofOpenai },
  { path: /\/publishers\/google\/models\/[^/]+:streamGenerateContent$/, schema: 'vertex', error: ofGoogle },
  { path: /:streamGenerateContent$/, schema: 'gemini', error: ofGoogle },
];

/** Where an API is known to differ from its published schema. Each has the page or thread that says so. */
const deviations: Partial<
  Record<PublishedSchema, (definitions: Record<string, SchemaNode>, root: SchemaNode) => void>
> = {
  // `detail` has a default, https://platform.openai.com/docs/api-reference/responses/create.
  'openai-responses': (definitions) => {
    for (const definition of Object.values(definitions)) {
      if (definition.properties?.image_url && definition.required) {
        definition.required = definition.required.filter((name) => name !== 'detail');
      }
    }
  },
  'openai-chat': (definitions) => {
    const assistant = definitions.ChatCompletionAssistantMessageParam as SchemaNode;
    Object.assign(assistant.properties as object, {
      // https://api-docs.deepseek.com/guides/thinking_mode
      reasoning_content: { type: 'string' },
      // https://openrouter.ai/docs/use-cases/reasoning-tokens
      reasoning_details: { type: 'array' },
      reasoning: { type: 'string' },
    });
  },
  // The client sends its beta names as a header.
  'anthropic-messages': (definitions, root) => {
    for (const node of [root, ...Object.values(definitions)]) delete node.properties?.betas;
  },
  // Gemini 3 assigns ids since September 2026, https://github.com/vercel/ai/issues/15891. The rules cover older models.
  vertex: (definitions) => {
    for (const name of ['FunctionCall', 'FunctionResponse']) {
      const { properties } = definitions[`google.cloud.aiplatform.v1.${name}`] as SchemaNode;
      Object.assign(properties as object, { id: { type: 'string' } });
    }
  },
};

const compiled = new Map<PublishedSchema, ValidateFunction>();

/** Compiled with the first request of a vendor: it takes a tenth of a second. */
function validatorOf(name: PublishedSchema): ValidateFunction {
  const known = compiled.get(name);
  if (known) return known;
  const file = join(import.meta.dirname, 'published', `${name}.generated.json`);
  const schema = JSON.parse(readFileSync(file, 'utf8')) as SchemaNode & { definitions: Record<string, SchemaNode> };
  deviations[name]?.(schema.definitions, schema);
  const validate = new Ajv({ strict: false, inlineRefs: false }).compile(schema);
  compiled.set(name, validate);
  return validate;
}

export type SchemaRefusal = { status: number; body: object; schemaFault: string };

/** Returns the refusal of a body that does not match the vendor's published schema; null if it matches. */
export function refusalBySchema(path: string, body: Body): SchemaRefusal | null {
  const endpoint = endpoints.find((each) => each.path.test(path.replace(/\?.*/, '')));
  if (!endpoint) return null;
  const converted = endpoint.convert ? endpoint.convert(body) : body;
  const message = typeof converted === 'string' ? converted : faultOf(validatorOf(endpoint.schema), converted);
  if (message === null) return null;
  return { status: 400, body: endpoint.error(message), schemaFault: `${path}: ${message}` };
}

function faultOf(validate: ValidateFunction, body: Body): string | null {
  if (validate(body)) return null;
  const errors = validate.errors ?? [];
  const most = Math.max(...errors.map(depthOf));
  const deepest = errors.filter((error) => depthOf(error) === most);
  // A union reports the faults of all its members. An unknown field says most.
  const { instancePath, message, params } =
    deepest.find(({ keyword }) => keyword === 'additionalProperties') ?? (deepest[0] as ErrorObject);
  return `${instancePath.slice(1).replaceAll('/', '.') || 'body'}: ${message} (${Object.values(params).join(', ')})`;
}

const depthOf = ({ instancePath }: ErrorObject) => instancePath.split('/').length;
