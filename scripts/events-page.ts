import { type Fields, fieldTable, meaningOf, nameOf } from '@vestra/contract/derive/field-table';
import type { JsonSchema } from '@vestra/contract/derive/json-schema';
import { openapi } from '@vestra/contract/derive/openapi';

const { schemas } = openapi({ version: '', url: '' }).components as { schemas: Record<string, JsonSchema> };

/** Generates docs/events.md: every event with its data, and every object in that data. */
export function eventsPage(): string {
  const carried = new Set<string>();
  const streamed = eventRows('StreamEvent', carried);
  const posted = eventRows('WebhookEvent', carried);
  return `${[
    '# Events',
    'Every event of streams and webhooks with its data, generated from the contract. Follow a conversation through its stream of events\n(`GET /v1/conversations/{id}/events`, or `stream: true` with a message). Events of the org are posted to [webhook endpoints](webhooks.md) and\nlisted by `GET /v1/events`. The `type` of an event determines its `data`. New types may be added: skip unknown ones.',
    '## On the stream of a conversation',
    'Each event comes as `id: <seq>`, `event: <type>` and `data: <the event as JSON>`. Reconnect with `Last-Event-ID`.',
    fieldTable(envelopeOf('StreamEvent'), link),
    streamed,
    '## Posted to webhooks',
    fieldTable(envelopeOf('WebhookEvent'), link),
    posted,
    '## What they carry',
    ...withAllTheyName(carried).flatMap((name) => {
      const { description, properties } = schemas[name] as { description?: string; properties: Fields };
      return [`### ${name}`, description ?? '', fieldTable(properties, link)];
    }),
  ].join('\n\n')}\n`;
}

function eventRows(union: string, carried: Set<string>): string {
  const rows = optionsOf(union).map((event) => {
    const { type, data } = event.properties as { type: JsonSchema; data: JsonSchema };
    return `| \`${type.const}\` | ${event.description} | ${carriedBy(data, carried)} |`;
  });
  return ['| type | meaning | `data` |', '|---|---|---|', ...rows].join('\n');
}

function optionsOf(union: string): JsonSchema[] {
  const { oneOf } = schemas[union] as { oneOf: { $ref: string }[] };
  return oneOf.map(({ $ref }) => schemas[nameOf($ref)] as JsonSchema);
}

/** All events of a union have the same envelope. */
function envelopeOf(union: string): Fields {
  const [first] = optionsOf(union) as [{ properties: Fields }];
  const { type, data, ...rest } = first.properties;
  return rest;
}

/** A resource, a resource with further fields, or only fields. */
function carriedBy(data: JsonSchema, carried: Set<string>): string {
  const resource = nameOf(data.$ref) || resourceWithin(data);
  const fields = Object.entries((data.properties ?? {}) as Fields).filter(
    ([name]) => !resource || !Object.hasOwn(schemas[resource]?.properties as Fields, name),
  );
  const told = fields.map(([name, field]) => {
    const inner = nameOf(field.$ref);
    if (inner) carried.add(inner);
    return inner ? `\`${name}\`: ${link(inner)}` : `\`${name}\`: ${field.description ?? meaningOf(field)}`;
  });
  if (resource) carried.add(resource);
  return [...(resource ? [link(resource)] : []), ...told].join('<br>');
}

function resourceWithin({ properties }: JsonSchema): string {
  const { object, deleted } = (properties ?? {}) as Fields;
  const tag = deleted ? undefined : object?.const;
  const found = Object.entries(schemas).find(
    ([, each]) => (each.properties as Fields | undefined)?.object?.const === tag,
  );
  return tag !== undefined && found ? found[0] : '';
}

/** The objects, and those nested in them. */
function withAllTheyName(names: Set<string>): string[] {
  const all = new Set(names);
  for (const name of all) {
    for (const [, inner] of JSON.stringify(schemas[name]).matchAll(/#\/components\/schemas\/(\w+)/g))
      all.add(inner as string);
  }
  return [...all].sort();
}

const link = (name: string) => `[${name}](#${name.toLowerCase()})`;
