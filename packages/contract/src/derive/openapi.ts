import { routes } from '../api.ts';
import { webhookEvent } from '../events.ts';
import { consoleCookie } from '../members.ts';
import { errorSchemas } from './error-schemas.ts';
import { families } from './families.ts';
import { introduction } from './introduction.ts';
import { type JsonSchema, toJsonSchema } from './json-schema.ts';
import { operationOf } from './operations.ts';

const headers = {
  'webhook-id': 'The id of the event, the same however often it is sent: handle each once.',
  'webhook-timestamp': 'When it was sent, in seconds since 1970: refuse what is older than a few minutes.',
  'webhook-signature':
    '`v1,` and the base64 of HMAC-SHA256 over `<id>.<timestamp>.<raw body>`; one for each secret that is in force.',
};

const parameters = Object.entries(headers).map(([name, description]) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
}));

/** OpenAPI's `webhooks`: the requests to endpoints, by event type. */
function webhookOperations() {
  return Object.fromEntries(
    webhookEvent.options.map((event) => {
      const type = event.shape.type.value;
      const description = event.description ?? '';
      const operation = {
        operationId: `webhook_${type.replaceAll('.', '_')}`,
        tags: ['Webhooks'],
        summary: description,
        description: 'Posted to every active endpoint of the mode that subscribed to this type, or to all.',
        security: [],
        parameters,
        requestBody: { required: true, content: { 'application/json': { schema: toJsonSchema(event, 'output') } } },
        responses: {
          '2XX': { description: 'Within 15 seconds: it has arrived and is not sent again.' },
          '410': { description: 'The endpoint is gone: it is disabled.' },
          default: { description: 'It is sent again, ten times within three days.' },
        },
      };
      return [type, { post: operation }];
    }),
  );
}

/**
 * Names the resources in a document. A schema with a title or a constant `object` is a resource. The first shape under
 * a name defines it, and every equal one becomes a reference with its own description.
 */
function nameResources(document: unknown): { value: unknown; schemas: Record<string, JsonSchema> } {
  const shapes = new Map<string, string>();
  const schemas: Record<string, JsonSchema> = {};

  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit);
    if (typeof value !== 'object' || value === null) return value;
    const inner = Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, key === 'example' ? each : visit(each)]),
    ) as JsonSchema;
    const name = nameOf(inner);
    if (!name) return inner;
    const { description, ...described } = inner;
    const shape = JSON.stringify(described);
    if (!shapes.has(name)) {
      shapes.set(name, shape);
      schemas[name] = inner;
    }
    if (shapes.get(name) !== shape) return inner;
    return { $ref: `#/components/schemas/${name}`, ...(description !== undefined && { description }) };
  };

  return { value: visit(document), schemas };
}

function nameOf(schema: JsonSchema): string | undefined {
  const { title, properties } = schema as { title?: unknown; properties?: Record<string, JsonSchema> };
  if (typeof title === 'string') return pascalCase(title);
  const tag = properties?.object?.const;
  const isDeletion = properties?.deleted !== undefined;
  return typeof tag === 'string' && !isDeletion ? pascalCase(tag) : undefined;
}

const pascalCase = (words: string) =>
  words
    .split(/[^a-z0-9]+/i)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

/** OpenAPI 3.1 of the whole table. */
export function openapi({ version, url }: { version: string; url: string }) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const row of routes) {
    const { method, path } = row.route;
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(row) };
  }
  const named = nameResources({ paths, webhooks: webhookOperations() });
  return {
    openapi: '3.1.0',
    info: {
      title: 'Vestra',
      version,
      summary: 'Host an AI agent: configure it once, run it for every user.',
      description: introduction.replaceAll(/\]\(\.\.\/([a-z-]+)\.md/g, `](${url}/docs/guide/$1`),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url }],
    security: [{ apiKey: [] }],
    tags: Object.values(families).map(({ title, description }) => ({ name: title, description })),
    ...(named.value as { paths: typeof paths; webhooks: ReturnType<typeof webhookOperations> }),
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key, `vk_test_…` or `vk_live_…`.' },
        sessionToken: { type: 'http', scheme: 'bearer', description: 'A session token, `vst_…`.' },
        consoleCookie: {
          type: 'apiKey',
          in: 'cookie',
          name: consoleCookie,
          description: 'The cookie that the console login sets.',
        },
      },
      headers: {
        RequestId: { description: 'The id of the request, to quote to the operator.', schema: { type: 'string' } },
      },
      schemas: { ...errorSchemas, ...withDiscriminators(named.schemas) },
    },
  };
}

/** Declares `type` as the discriminator of event unions, for code generators. */
function withDiscriminators(schemas: Record<string, JsonSchema>): Record<string, JsonSchema> {
  const unions = Object.entries(schemas).flatMap(([name, schema]) => {
    const options = ((schema.oneOf ?? []) as { $ref?: string }[]).flatMap(({ $ref }) => ($ref ? [$ref] : []));
    const mapping = options.map(($ref) => [typeOf(schemas[$ref.split('/').at(-1) as string]), $ref]);
    if (mapping.length === 0) return [];
    return [[name, { ...schema, discriminator: { propertyName: 'type', mapping: Object.fromEntries(mapping) } }]];
  });
  return { ...schemas, ...Object.fromEntries(unions) };
}

const typeOf = (schema: JsonSchema | undefined): unknown =>
  (schema?.properties as Record<string, JsonSchema> | undefined)?.type?.const;
