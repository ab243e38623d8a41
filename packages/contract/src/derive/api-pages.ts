import { errorCatalogue } from '../errors.ts';
import type { CodeSample } from './code-samples.ts';
import { type Fields, fieldTable, type LinkObject, nameOf, requestTable } from './field-table.ts';
import type { JsonSchema } from './json-schema.ts';
import { openapi } from './openapi.ts';

/** A group of the reference. Its texts are Markdown, with links relative to docs/api. */
export type ApiGroup = {
  tag: string;
  description: string;
  /** The name of its page, such as `test-runs`. */
  page: string;
  operations: ApiOperation[];
  objects: string;
};

export type ApiOperation = {
  id: string;
  title: string;
  method: string;
  path: string;
  /** Access, fields, responses and errors. */
  text: string;
  parameters: readonly Parameter[];
  /** The example of the body, if it is JSON. */
  body?: unknown;
  answer?: unknown;
  samples: readonly CodeSample[];
  /** Whether an API key opens it. */
  takesKey: boolean;
  takesFile: boolean;
};

type Parameter = {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: JsonSchema;
  example?: unknown;
};
type Content = Record<string, { schema?: JsonSchema; example?: unknown }>;
type Operation = {
  operationId: string;
  tags: [string];
  summary: string;
  description: string;
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, { content?: Content }>;
  'x-scopes'?: string[];
  'x-session'?: unknown;
  'x-codeSamples'?: CodeSample[];
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

/** The groups in the order of the reference. */
export function apiGroups(): ApiGroup[] {
  return tags.map(({ name: tag, description }) => {
    const link = linksOf(tag);
    return {
      tag,
      description,
      page: pageOfTag(tag).slice(0, -'.md'.length),
      operations: operationsOf(tag).map((each) => apiOperation(each, link)),
      objects: objectSections(tag, link).join('\n\n'),
    };
  });
}

function apiOperation(each: (typeof operations)[number], link: LinkObject): ApiOperation {
  const { path, method, operation } = each;
  const content = operation.requestBody?.content ?? {};
  const [, first] = Object.entries(operation.responses).find(([status]) => status < '300') ?? [];
  const body = content['application/json']?.example;
  const answer = first?.content?.['application/json']?.example;
  return {
    id: operation.operationId,
    title: operation.summary,
    method: method.toUpperCase(),
    path,
    text: routeSection(each, link).slice(1).filter(Boolean).join('\n\n'),
    parameters: (operation.parameters ?? []).filter(({ in: place }) => place !== 'header'),
    ...(body !== undefined && { body }),
    ...(answer !== undefined && { answer }),
    samples: operation['x-codeSamples'] ?? [],
    takesKey: operation['x-scopes'] !== undefined,
    takesFile: content['multipart/form-data'] !== undefined,
  };
}

const operationsOf = (tag: string) => operations.filter(({ operation }) => operation.tags[0] === tag);

function indexPage(): string {
  const rows = tags.map(({ name, description }) => `| [${name}](${pageOfTag(name)}) | ${description} |`);
  return `${[
    '# API fields',
    'Every field, limit, status and error code of every route. `npm run fix` writes these pages from the contract. [Requests and responses](../requests.md) describes the rules and the error codes that all routes share.',
    ['| group | |', '|---|---|', ...rows].join('\n'),
  ].join('\n\n')}\n`;
}

function groupPage(tag: string, description: string): string {
  const link = linksOf(tag);
  const routes = operationsOf(tag).flatMap((each) => routeSection(each, link));
  return `${[`# ${tag} API`, description, ...routes, ...objectSections(tag, link)].filter((part) => part !== '').join('\n\n')}\n`;
}

const linksOf =
  (tag: string): LinkObject =>
  (name) => {
    const page = placeOfObject.get(name);
    if (!page) return `[${name}](../events.md)`;
    return `[${name}](${page === pageOfTag(tag) ? '' : page}#${name.toLowerCase()})`;
  };

function objectSections(tag: string, link: LinkObject): string[] {
  return [...placeOfObject]
    .filter(([, page]) => page === pageOfTag(tag))
    .flatMap(([name]) => {
      const { description = '', properties = {} } = schemas[name] as { description?: string; properties?: Fields };
      return [`## ${name}`, description, Object.keys(properties).length > 0 ? fieldTable(properties, link) : ''];
    });
}

function routeSection({ path, method, operation }: (typeof operations)[number], link: LinkObject): string[] {
  const sent = [...(operation.parameters ?? []).map(parameterRow), ...bodyRows(operation, link)];
  const answers = Object.entries(operation.responses).filter(([status]) => status < '400');
  return [
    `## ${method.toUpperCase()} ${path}`,
    operation.description,
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
