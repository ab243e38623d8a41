import { Ajv, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

type Schema = Record<string, unknown>;

const deepest = 32;

const words = (text: string) => new Set(text.split(' '));

/** Keywords whose value is one schema, a list of schemas, or a map of names to schemas; then all the others. */
const single = words(
  'additionalProperties unevaluatedProperties unevaluatedItems additionalItems contains propertyNames not if then else items',
);
const lists = words('allOf anyOf oneOf prefixItems items');
const maps = words('properties patternProperties $defs definitions dependentSchemas');
const plain = words(
  '$schema $id $anchor $ref $comment type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern maxItems minItems uniqueItems maxContains minContains maxProperties minProperties required dependentRequired title description default deprecated readOnly writeOnly examples example format contentEncoding contentMediaType nullable discriminator',
);
const keywords: ReadonlySet<string> = new Set([...single, ...lists, ...maps, ...plain]);

/**
 * What is wrong with a JSON Schema, or null. Its form is held against the meta-schema and its references, patterns and
 * keywords are looked at here; compiling it would find the same and hold the process up for seconds on a large file.
 */
export function faultOfJsonSchema(root: Schema): string | null {
  if (depthOf(root) > deepest) return `The JSON Schema may be ${deepest} levels deep at most.`;
  return faultOfForm(root) ?? faultWithin(root, root, []);
}

const options: Options = { validateFormats: false, logger: false, addUsedSchema: false };

let drafts: { 7: Ajv; 2020: Ajv } | undefined;

function faultOfForm({ $schema, ...schema }: Schema): string | null {
  drafts ??= { 7: new Ajv(options), 2020: new Ajv2020(options) };
  const ajv = /draft-0[3-7]/.test(String($schema)) ? drafts[7] : drafts[2020];
  if (ajv.validateSchema(schema)) return null;
  const [error] = ajv.errors ?? [];
  const place = error?.instancePath.slice(1).replaceAll('/', '.') || 'it';
  return `The JSON Schema does not hold together: ${place} ${error?.message}.`;
}

function faultWithin(schema: Schema, root: Schema, path: string[]): string | null {
  const at = path.length === 0 ? 'At its top' : `At ${path.join('.')}`;
  const unknown = Object.keys(schema).find((key) => !keywords.has(key) && !key.startsWith('x-'));
  if (unknown !== undefined) return `${at} \`${unknown}\` is no keyword of JSON Schema.`;
  if (typeof schema.$ref === 'string' && !leadsSomewhere(schema.$ref, root)) {
    return `${at} \`$ref\` leads nowhere: it may name a part of this schema alone, such as #/$defs/address.`;
  }
  const patterns = [schema.pattern, ...Object.keys(asObject(schema.patternProperties))];
  if (patterns.some((pattern) => typeof pattern === 'string' && !isPattern(pattern))) {
    return `${at} a pattern is no regular expression.`;
  }
  for (const [inner, step] of partsOf(schema)) {
    const fault = faultWithin(inner, root, [...path, ...step]);
    if (fault !== null) return fault;
  }
  return null;
}

/** `true` and `false` are schemas too, and hold nothing to look at. */
function partsOf(schema: Schema): [Schema, string[]][] {
  const parts = Object.entries(schema).flatMap(([key, value]): [unknown, string[]][] => {
    if (Array.isArray(value)) return lists.has(key) ? value.map((each, at) => [each, [key, String(at)]]) : [];
    if (maps.has(key)) return Object.entries(asObject(value)).map(([name, each]) => [each, [key, name]]);
    return single.has(key) ? [[value, [key]]] : [];
  });
  return parts.filter((part): part is [Schema, string[]] => isObject(part[0]));
}

function leadsSomewhere(reference: string, root: Schema): boolean {
  if (reference === '#') return true;
  if (!reference.startsWith('#/')) return reference.startsWith('#') && hasAnchor(root, reference.slice(1));
  const steps = reference
    .slice(2)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  let here: unknown = root;
  for (const step of steps) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, step)) return false;
    here = (here as Schema)[step];
  }
  return isObject(here) || typeof here === 'boolean';
}

const hasAnchor = (schema: Schema, name: string): boolean =>
  schema.$anchor === name || partsOf(schema).some(([inner]) => hasAnchor(inner, name));

function isPattern(text: string): boolean {
  try {
    new RegExp(text, 'u');
    return true;
  } catch {
    return false;
  }
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Object.values(value).reduce((deep: number, inner) => Math.max(deep, depthOf(inner)), 0);
}

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const asObject = (value: unknown): Schema => (isObject(value) ? value : {});
