import { deploymentFile } from '@vestra/contract/deployment-file';
import { webhookEventTypes } from '@vestra/contract/webhook-event-types';
import fc from 'fast-check';
import type { z } from 'zod';
import { repoNamed } from '../../agents/versions/manifest.ts';
import type { WrittenFile } from './parts.ts';

/** Any file that the schema accepts. New fields of the schema are generated automatically. */
export const anyFile = (): fc.Arbitrary<WrittenFile> =>
  (arbitraryOf(deploymentFile, []) as fc.Arbitrary<WrittenFile>).filter(
    (file) => deploymentFile.safeParse(file).success,
  );

/** Rules of the schema that are code and not data, by the end of the path. */
const written: [path: RegExp, arbitrary: fc.Arbitrary<unknown>][] = [
  [/^language$/, fc.constantFrom('auto', 'en', 'no', 'pt-BR', 'zh-Hant-TW')],
  [/timezone$/, fc.constantFrom('UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires')],
  [/(mcp|webhooks\.url)$/, fc.webUrl({ withQueryParameters: true })],
  [/events$/, fc.oneof(fc.constant('*'), fc.constant(['*']), fc.subarray([...webhookEventTypes], { minLength: 1 }))],
  [
    /input$/,
    fc.dictionary(
      fc.stringMatching(/^[a-z_]{1,8}$/),
      fc.constantFrom('string', 'integer?', 'boolean[]', 'small|large?', { street: 'string', no: 'integer?' }),
    ),
  ],
  [/(filters|tool_results|recorded_calls\.arguments)$/, fc.dictionary(plainText(), anyJson(), { maxKeys: 3 })],
  [/recorded_calls\.result$/, anyJson()],
  [
    /headers\.value$/,
    fc.constantFrom('eu', ' a ', 'Bearer ${TOKEN}', 'Bearer ${user_secret:MINE}', '${A}:${secret:B}', 'no'),
  ],
  [/^(skills|knowledge)$/, fc.constant(undefined)],
  // A local file is uploaded before, and a hash is not part of a file.
  [/files\.(from|sha256)$/, fc.constant(undefined)],
  [/repos(\.url)?$/, repoAddresses()],
];

function arbitraryOf(schema: z.ZodType, path: readonly string[]): fc.Arbitrary<unknown> {
  const def = definition(schema);
  const isRepoList = path.at(-1) === 'repos' && def.type !== 'string';
  const own = isRepoList ? undefined : written.find(([pattern]) => pattern.test(path.join('.')))?.[1];
  if (own && !['optional', 'default'].includes(def.type)) return own;
  switch (def.type) {
    case 'object':
      return fc.record(
        Object.fromEntries(Object.entries(def.shape).map(([key, field]) => [key, arbitraryOf(field, [...path, key])])),
        { requiredKeys: Object.keys(def.shape).filter((key) => !mayBeAbsent(def.shape[key] as z.ZodType)) },
      );
    case 'optional':
    case 'default':
    case 'prefault':
      return arbitraryOf(def.innerType, path);
    case 'union':
      return fc.oneof(...def.options.map((option) => arbitraryOf(option, path)));
    case 'array':
      // A repeated entry is saved once, and no two repositories share a folder.
      return fc.uniqueArray(arbitraryOf(def.element, path), {
        minLength: minimumOf(def),
        maxLength: 3,
        selector: (item) =>
          isRepoList ? repoNamed(item as Parameters<typeof repoNamed>[0]).path : JSON.stringify(item),
      });
    case 'record':
      return fc.dictionary(
        arbitraryOf(def.keyType, []) as fc.Arbitrary<string>,
        arbitraryOf(def.valueType, [...path, 'value']),
        { maxKeys: 3 },
      );
    case 'enum':
      return fc.constantFrom(...Object.values(def.entries));
    case 'literal':
      return fc.constantFrom(...def.values);
    case 'boolean':
      return fc.boolean();
    case 'number':
      return numberOf(schema);
    case 'string':
      return stringOf(schema);
    default:
      throw new Error(`No value can be made up for ${path.join('.')}, which is ${def.type}.`);
  }
}

type Def = {
  type: string;
  shape: Record<string, z.ZodType>;
  innerType: z.ZodType;
  options: z.ZodType[];
  element: z.ZodType;
  keyType: z.ZodType;
  valueType: z.ZodType;
  entries: Record<string, string>;
  values: unknown[];
  checks?: { _zod: { def: { minimum?: number; pattern?: RegExp } } }[];
};

const definition = (schema: z.ZodType): Def => (schema as unknown as { _zod: { def: Def } })._zod.def;

const mayBeAbsent = (schema: z.ZodType) => schema.safeParse(undefined).success;

const minimumOf = ({ checks = [] }: Def) => Math.max(0, ...checks.map((check) => check._zod.def.minimum ?? 0));

function numberOf(schema: z.ZodType): fc.Arbitrary<number> {
  const { minValue, maxValue, format } = schema as z.ZodNumber;
  const bounds = { min: minValue ?? undefined, max: maxValue ?? undefined } as { min: number; max: number };
  return format === 'safeint' ? fc.integer(bounds) : fc.double({ ...bounds, noNaN: true });
}

function stringOf(schema: z.ZodType): fc.Arbitrary<string> {
  const pattern = definition(schema)
    .checks?.map((check) => check._zod.def.pattern)
    .find((found) => found !== undefined);
  // Filters what the pattern cannot express, such as the length.
  const made = pattern ? fc.stringMatching(pattern) : plainText();
  return made.filter((text) => schema.safeParse(text).success);
}

/** Ordinary text, and text that YAML misreads unless it is quoted. */
function plainText(): fc.Arbitrary<string> {
  const odd = [
    ...['yes', 'no', 'on', 'null', '~', '1.0', '0x1f', '1e3', '.inf', '2001-01-01', '<<', '=', '', ' ', '\n'],
    ...[
      '- a',
      '# a',
      'a # b',
      'a: b',
      '&a',
      '*a',
      '!a',
      '|',
      '>',
      '%a',
      '@a',
      '`a`',
      '---',
      '...',
      '{}',
      '[]',
      '"',
      "'",
    ],
    ...['  lead', 'trail  ', 'trail\n\n', '\n\nlead', 'a\n  b\n c', 'a\r\nb', 'tab\tin', '\ttab', 'a\n\tb\n', 'a \nb'],
    ...['\u0085', '\u2028', '\ufeffa', '\u00a0', 'é', '😀', '\u0007', '\u001b[31m', '\u007f', 'a'.repeat(200)],
  ];
  const lines = fc.array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom(...odd)), { maxLength: 4 });
  return fc
    .oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom(...odd),
      lines.map((all) => all.join('\n')),
    )
    .filter((text) => !text.includes('\0') && text.isWellFormed());
}

function anyJson(): fc.Arbitrary<unknown> {
  const { json } = fc.letrec<{ json: unknown }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      plainText(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('json'), { maxLength: 3 }),
      fc.dictionary(plainText(), tie('json'), { maxKeys: 3 }),
    ),
  }));
  return json;
}

function repoAddresses(): fc.Arbitrary<string> {
  const name = fc.stringMatching(/^[a-z][a-z0-9._-]{0,8}$/);
  return fc
    .tuple(
      fc.constantFrom('', 'https://', 'http://'),
      fc.constantFrom('github.com', 'git.example.com:8443'),
      name,
      name,
    )
    .map(([scheme, host, owner, repo]) => `${scheme}${host}/${owner}/${repo}`);
}
