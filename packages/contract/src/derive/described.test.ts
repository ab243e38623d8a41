import { describe, expect, it } from 'vitest';
import type { JsonSchema } from './json-schema.ts';
import { openapi } from './openapi.ts';

type Found = { at: string; name: string; description: unknown };

const document = openapi({ version: '1.0.0', url: 'https://example.com' });
const found = describablesOf(document);

describe('the OpenAPI document', () => {
  it('describes every operation, parameter, field, event and group [REQ-300]', () => {
    expect(found.length).toBeGreaterThan(2000);
    expect(found.filter(isFiller).map(({ at, description }) => `${at}: ${description}`)).toEqual([]);
  });

  it('explains every error code with its remedy, and lists the codes of every response [REQ-301]', () => {
    const { enum: codes, 'x-enumDescriptions': meanings } = document.components.schemas.ErrorCode as {
      enum: string[];
      'x-enumDescriptions': Record<string, string>;
    };
    expect(Object.keys(meanings)).toEqual(codes);
    const sentences = (text: string) => text.split(/[.?!:](?:\s|$)/).filter((sentence) => sentence.trim() !== '');
    expect(codes.filter((code) => sentences(meanings[code] as string).length < 2)).toEqual([]);
    for (const { responses } of operationsOf(document)) {
      for (const [status, { content }] of Object.entries(responses)) {
        if (!/^[45]/.test(status) || !content?.['application/json']?.schema.allOf) continue;
        const [, { properties }] = content['application/json'].schema.allOf as [unknown, { properties: never }];
        const { code = (properties as Narrowed).error?.properties.code } = properties as Narrowed;
        expect(code?.enum.length).toBeGreaterThan(0);
      }
    }
  });

  it('shows an example request and response of every operation [REQ-305]', () => {
    const isShown = (content: object | undefined) =>
      Object.values(content ?? {}).some((each) => (each as { example?: unknown }).example !== undefined);
    const without = operationsOf({ paths: document.paths, webhooks: {} }).filter(({ at, requestBody, responses }) => {
      const [success] = Object.entries(responses).flatMap(([status, each]) =>
        /^2/.test(status) ? [each.content] : [],
      );
      const takesJson = requestBody?.content['application/json'] !== undefined;
      return (takesJson && !isShown(requestBody?.content)) || (!isShown(success) && !answersBytes.has(at));
    });
    expect(without.map(({ at }) => at)).toEqual([]);
  });

  it('shows no meaningless number bounds [REQ-302]', () => {
    expect(JSON.stringify(document)).not.toMatch(/9007199254740991/);
  });
});

describe('isFiller', () => {
  const field = (name: string, description?: string) => ({ at: name, name, description });

  it.each([
    [field('spend_cap_usd'), true],
    [field('spend_cap_usd', ''), true],
    [field('spend_cap_usd', 'The spend cap.'), true],
    [field('user_ids', 'The ids of the user.'), true],
    [field('name', 'A name.'), true],
    [field('name', 'What people call it.'), false],
  ])('%j', (given, expected) => {
    expect(isFiller(given)).toBe(expected);
  });

  it('searches at every depth', () => {
    const nested = {
      paths: {
        '/v1/things': {
          get: {
            summary: 'x',
            parameters: [{ name: 'after', in: 'query', schema: {} }],
            responses: { 200: { content: { 'application/json': { schema: { items: { properties: { a: {} } } } } } } },
          },
        },
      },
      components: { schemas: {} },
      tags: [],
      webhooks: {},
    };
    expect(
      describablesOf(nested)
        .filter(isFiller)
        .map(({ name }) => name),
    ).toEqual(['get /v1/things', 'after', 'a']);
  });
});

/** A picture has no example. */
const answersBytes = new Set(['get /v1/users/{user_id}/screenshot']);

type Codes = { enum: string[] };
type Narrowed = { code?: Codes; error?: { properties: { code: Codes } } };
type Operation = {
  summary: string;
  description?: string;
  parameters?: { name: string; description?: string }[];
  requestBody?: { content: Record<string, object> };
  responses: Record<string, { content?: Record<string, { schema: JsonSchema }> }>;
};
type Document = { paths: object; webhooks: object; components: { schemas: object }; tags: object[] };

function operationsOf({ paths, webhooks }: Pick<Document, 'paths' | 'webhooks'>): (Operation & { at: string })[] {
  return Object.entries({ ...paths, ...webhooks }).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, Operation>).map(([method, operation]) => ({
      ...operation,
      at: `${method} ${path}`,
    })),
  );
}

/** Everything in the document that needs a description. */
function describablesOf(document: Document): Found[] {
  const operations = operationsOf(document).flatMap(({ at, description, parameters = [], ...rest }) => [
    { at, name: at, description },
    ...parameters.map((each) => ({ at: `${at} ?${each.name}`, name: each.name, description: each.description })),
    ...fieldsWithin(rest, at),
  ]);
  const tags = (document.tags as { name: string; description?: string }[]).map(({ name, description }) => ({
    at: name,
    name,
    description,
  }));
  return [...operations, ...tags, ...fieldsWithin(document.components.schemas, '')];
}

/**
 * Every field of every schema in a part of the document. The description may be on the field, its options or its
 * reference.
 */
function fieldsWithin(part: unknown, at: string): Found[] {
  if (Array.isArray(part)) return part.flatMap((each) => fieldsWithin(each, at));
  if (typeof part !== 'object' || part === null) return [];
  return Object.entries(part as JsonSchema).flatMap(([key, value]) => {
    if (key === 'example' || key === 'examples' || key === 'default' || key === 'allOf') return [];
    if (key !== 'properties') return fieldsWithin(value, key.startsWith('application/') ? at : `${at}.${key}`);
    return Object.entries(value as Record<string, JsonSchema>).flatMap(([name, field]) => [
      { at: `${at}.${name}`, name, description: meaningOf(field) },
      ...fieldsWithin(field, `${at}.${name}`),
    ]);
  });
}

function meaningOf(field: JsonSchema): unknown {
  if (field.description !== undefined) return field.description;
  const options = (field.anyOf ?? field.oneOf ?? []) as JsonSchema[];
  return options.map(meaningOf).find((meaning) => meaning !== undefined);
}

/** Empty, too short, or a repetition of the name. */
function isFiller({ name, description }: Found): boolean {
  if (typeof description !== 'string') return true;
  const words = wordsOf(description);
  const own = new Set(wordsOf(name));
  return words.length < 2 || words.every((word) => own.has(word));
}

const wordsOf = (text: string) =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => !['', 'a', 'an', 'the', 'of', 'its', 'this', 'is', 'to', 'it'].includes(word))
    .map((word) => word.replace(/s$/, ''));
