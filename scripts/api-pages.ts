import type { JsonSchema } from '@vestra/contract/derive/json-schema';
import { openapi } from '@vestra/contract/derive/openapi';
import { errorCatalogue } from '@vestra/contract/errors';
import { type Fields, fieldTable, type LinkObject, nameOf, requestTable } from './field-table.ts';

type Parameter = { name: string; in: string; required?: boolean; description?: string; schema: JsonSchema };
type Content = Record<string, { schema?: JsonSchema }>;
type Operation = {
  tags: [string];
  summary: string;
  description: string;
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, { content?: Content }>;
  'x-scopes'?: string[];
  'x-session'?: unknown;
};

const document = openapi({ version: '', url: '' });
const { schemas } = document.components as { schemas: Record<string, JsonSchema> };
const tags = document.tags as { name: string; description: string }[];
const operations = Object.entries(document.paths as Record<string, Record<string, Operation>>).flatMap(
  ([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);
const pageOfTag = (tag: string) => `${tag.toLowerCase().replaceAll(' ', '-')}.md`;
const placeOfObject = placesOfObjects();
const commonCodes = codesOfEveryRoute();

/** docs/api: a page for each group of routes with every field, limit, status and code, and an index. */
export function apiPages(): Record<string, string> {
  const pages = tags.map(({ name, description }) => [`docs/api/${pageOfTag(name)}`, groupPage(name, description)]);
  return { 'docs/api/README.md': indexPage(), ...Object.fromEntries(pages) };
}

function indexPage(): string {
  const rows = tags.map(({ name, description }) => `| [${name}](${pageOfTag(name)}) | ${description} |`);
  return `${[
    '# API fields',
    'Every field, limit, status and error code of every route. `npm run fix` writes these pages from the contract. [Requests and responses](../requests.md) describes the rules and the error codes that all routes share.',
    ['| group | |', '|---|---|', ...rows].join('\n'),
  ].join('\n\n')}\n`;
}

function groupPage(tag: string, description: string): string {
  const link: LinkObject = (name) => {
    const page = placeOfObject.get(name);
    if (!page) return `[${name}](../events.md)`;
    return `[${name}](${page === pageOfTag(tag) ? '' : page}#${name.toLowerCase()})`;
  };
  const routes = operations
    .filter(({ operation }) => operation.tags[0] === tag)
    .flatMap((each) => routeSection(each, link));
  const objects = [...placeOfObject]
    .filter(([, page]) => page === pageOfTag(tag))
    .flatMap(([name]) => {
      const { description: about = '', properties = {} } = schemas[name] as {
        description?: string;
        properties?: Fields;
      };
      return [`## ${name}`, about, Object.keys(properties).length > 0 ? fieldTable(properties, link) : ''];
    });
  return `${[`# ${tag} API`, description, ...routes, ...objects].filter((part) => part !== '').join('\n\n')}\n`;
}

function routeSection({ path, method, operation }: (typeof operations)[number], link: LinkObject): string[] {
  const sent = [...(operation.parameters ?? []).map(parameterRow), ...bodyRows(operation, link)];
  const answers = Object.entries(operation.responses).filter(([status]) => status < '400');
  return [
    `## ${method.toUpperCase()} ${path}`,
    [operation.summary, operation.description].filter(Boolean).join(' '),
    accessOf(operation),
    sent.length > 0 ? requestTable(sent, link) : '',
    `Success: ${answers.map(([status, { content }]) => answerOf(status, content, link)).join('; ')}.`,
    codesOf(operation),
  ];
}

function accessOf({ 'x-scopes': scopes, 'x-session': session }: Operation): string {
  const keys = scopes ? `Scopes: ${scopes.map((scope) => `\`${scope}\``).join(', ')}.` : '';
  return [keys, session ? '[Session tokens](../session-access.md) open a part of it.' : ''].filter(Boolean).join(' ');
}

function parameterRow({ name, in: place, required, description, schema }: Parameter) {
  return { name, place: required ? `${place}, required` : place, schema: { description, ...schema } };
}

function bodyRows({ requestBody }: Operation, link: LinkObject) {
  const [type, { schema = {} } = {}] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  if (!type) return [];
  const { properties, required = [] } = schema as { properties?: Fields; required?: string[] };
  if (!properties)
    return [{ name: 'body', place: type, schema: schema.$ref ? { description: link(nameOf(schema.$ref)) } : schema }];
  return Object.entries(properties).map(([name, field]) => ({
    name,
    place: required.includes(name) ? 'body, required' : 'body',
    schema: field,
  }));
}

function answerOf(status: string, content: Content | undefined, link: LinkObject): string {
  const parts = Object.entries(content ?? {}).map(([type, { schema }]) =>
    type === 'application/json' && schema ? shapeOf(schema, link) : `\`${type}\``,
  );
  return [status, ...new Set(parts)].join(' ');
}

function shapeOf(schema: JsonSchema, link: LinkObject): string {
  if (schema.$ref) return link(nameOf(schema.$ref));
  const options = (schema.anyOf ?? schema.oneOf ?? schema.allOf) as JsonSchema[] | undefined;
  if (options) return [...new Set(options.map((each) => shapeOf(each, link)))].join(' or ');
  const { data, ...rest } = (schema.properties ?? {}) as Fields;
  const entry = data?.type === 'array' ? (data.items as JsonSchema) : undefined;
  if (entry && rest.next_cursor) return `a page of ${shapeOf(entry, link)}`;
  const names = Object.entries((schema.properties ?? {}) as Fields).map(([name, { const: value }]) =>
    value === undefined ? name : `${name}: ${value}`,
  );
  return names.length > 0 ? `\`{${names.join(', ')}}\`` : String(schema.type ?? 'any');
}

function codesOf({ responses }: Operation): string {
  const codes = Object.entries(responses)
    .filter(([status]) => status >= '400')
    .flatMap(([status, { content }]) => {
      const found = [...JSON.stringify(content ?? {}).matchAll(/"enum":(\[[^\]]*\])/g)].flatMap(([, list = '[]']) =>
        JSON.parse(list),
      );
      const own = [...new Set(found)].filter((code) => !commonCodes.has(code));
      return own.length > 0 ? [`${status} ${own.map((code) => `\`${code}\``).join(', ')}`] : [];
    });
  return codes.length > 0 ? `Errors: ${codes.join('; ')}.` : '';
}

/** Codes that any route with a key may return: requests.md lists them once. */
function codesOfEveryRoute(): Set<string> {
  const lists = operations
    .filter(({ operation }) => operation['x-scopes'])
    .map(
      ({ operation }) =>
        new Set(
          JSON.stringify(operation.responses)
            .match(/"[a-z_]+"/g)
            ?.map((each) => each.slice(1, -1)),
        ),
    );
  const [first = new Set<string>(), ...rest] = lists;
  return new Set([...first].filter((code) => code in errorCatalogue && rest.every((list) => list.has(code))));
}

/** Each object is on the page of the first group that returns it; streamed and posted events are in events.md. */
function placesOfObjects(): Map<string, string> {
  const places = new Map<string, string>();
  const add = (name: string, page: string): void => {
    const schema = schemas[name];
    if (!schema || places.has(name) || name === 'ErrorCode' || /(?:Stream|Webhook)Event$/.test(name)) return;
    places.set(name, page);
    for (const [, inner = ''] of JSON.stringify(schema).matchAll(/#\/components\/schemas\/(\w+)/g)) add(inner, page);
  };
  for (const own of [true, false]) {
    for (const { operation } of operations) {
      for (const response of Object.values(operation.responses)) {
        for (const [, name = ''] of JSON.stringify(response).matchAll(/#\/components\/schemas\/(\w+)/g)) {
          const isOwn = operation.tags[0]
            .toLowerCase()
            .replaceAll(/[^a-z]/g, '')
            .startsWith(name.toLowerCase().slice(0, 4));
          if (!own || isOwn) add(name, pageOfTag(operation.tags[0]));
        }
      }
    }
  }
  return places;
}
