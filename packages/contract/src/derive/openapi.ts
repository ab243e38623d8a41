import { routes } from '../api.ts';
import { consoleCookie } from '../members.ts';
import { errorSchemas } from './error-schemas.ts';
import { families } from './families.ts';
import type { JsonSchema } from './json-schema.ts';
import { nameResources } from './named-schemas.ts';
import { operationOf } from './operations.ts';
import { webhookOperations } from './webhook-operations.ts';

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
      description: introduction,
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

const introduction =
  'Send an API key as `Authorization: Bearer <API_KEY>`. A test key sees test users, test money and the draft of a ' +
  'deployment; a live key the live ones. A session token opens what carries `x-session`: one of its `needs` must be ' +
  'switched on, it may send the fields of `sends`, and its answers leave out those of `hidden`. Lists take `limit` and ' +
  '`cursor`; creates take an `Idempotency-Key`. Every error answers one body; branch on its `code`. A stream of events ' +
  'shows as `text/event-stream` with the schema of the `data` of each event.';

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
